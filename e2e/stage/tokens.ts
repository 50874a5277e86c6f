// How many tokens a text is for a model: those of o200k_base, OpenAI's vocabulary of today. Others count within a tenth
// of it for such texts.

import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';

const vocabulary = new Tiktoken(o200k);

export const tokens = (text: string): number => vocabulary.encode(text, [], []).length;
