
# Splits the line as the package bash-completion does, also where that is not installed: a word goes on after = and :.
__tabrelay_init_completion()
{
    COMPREPLY=()
    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    local i word rest=$COMP_LINE joined
    words=()
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
        word=${COMP_WORDS[i]}
        joined=
        if ((i > 0)) && [[ $rest != [[:space:]]* ]]; then
            [[ $word == [=:]* || ${COMP_WORDS[i-1]} == *[=:] ]] && joined=1
        fi
        if [[ $joined ]]; then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
        ((i == COMP_CWORD)) && cword=$((${#words[@]} - 1))
        rest=${rest#*"$word"}
    done
    cur=${words[cword]}
    prev=
    ((cword > 0)) && prev=${words[cword-1]}
    return 0
}
