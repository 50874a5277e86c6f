// Editors that keep a document of their own: what they hold is told by window.held(name), from their own models.

import { placeholder } from '@codemirror/view';
import { createEmptyHistoryState, registerHistory } from '@lexical/history';
import { registerRichText } from '@lexical/rich-text';
import * as codemirror from 'codemirror';
import { $createParagraphNode, $createTextNode, $getRoot, createEditor } from 'lexical';
import * as monaco from 'monaco-editor';
import { exampleSetup } from 'prosemirror-example-setup';
import * as model from 'prosemirror-model';
import { schema } from 'prosemirror-schema-basic';
import { EditorState } from 'prosemirror-state';
import { EditorView } from 'prosemirror-view';
import Quill from 'quill';
import { type ChangeEvent, createElement, useState } from 'react';
import { createRoot } from 'react-dom/client';
import tinymce from 'tinymce';
import 'tinymce/icons/default';
import 'tinymce/models/dom';
import 'tinymce/skins/content/default/content';
import 'tinymce/skins/ui/oxide/content';
import 'tinymce/skins/ui/oxide/skin';
import 'tinymce/themes/silver';

const held = new Map<string, () => string>();
const place = (name: string): HTMLElement => {
  const found = document.getElementById(name);
  if (found === null) throw new Error(`no place for ${name}`);
  return found;
};

function openLexical(): void {
  const editor = createEditor({
    namespace: 'lexical',
    onError(why) {
      throw why;
    },
  });
  editor.setRootElement(place('lexical'));
  registerRichText(editor);
  registerHistory(editor, createEmptyHistoryState(), 300);
  editor.update(() => {
    $getRoot().append($createParagraphNode().append($createTextNode('old words')));
  });
  held.set('lexical', () =>
    editor.getEditorState().read(() =>
      $getRoot()
        .getChildren()
        .map((one) => one.getTextContent())
        .join('\n'),
    ),
  );
}

function openProseMirror(): void {
  const content = document.createElement('div');
  content.innerHTML = '<p>old words</p>';
  const view = new EditorView(place('prosemirror'), {
    state: EditorState.create({
      doc: model.DOMParser.fromSchema(schema).parse(content),
      plugins: exampleSetup({ schema, menuBar: false }),
    }),
  });
  held.set('prosemirror', () => view.state.doc.textBetween(0, view.state.doc.content.size, '\n', '\n'));
}

function openCodeMirror(): void {
  const view = new codemirror.EditorView({
    doc: 'old words',
    extensions: [codemirror.basicSetup, placeholder('Write code here')],
    parent: place('codemirror'),
  });
  held.set('codemirror', () => view.state.doc.toString());
}

function openMonaco(name: string, editContext: boolean): void {
  const options = { value: 'old words', language: 'plaintext', editContext, ariaLabel: name };
  const editor = monaco.editor.create(place(name), options);
  held.set(name, () => editor.getValue());
}

function openQuill(): void {
  const quill = new Quill(place('quill'));
  quill.setText('old words\n');
  held.set('quill', () => quill.getText().replace(/\n$/, ''));
}

async function openTiny(): Promise<void> {
  const [editor] = await tinymce.init({
    target: place('tinymce'),
    license_key: 'gpl',
    skin_url: 'default',
    content_css: 'default',
    promotion: false,
    branding: false,
    height: 160,
  });
  editor?.setContent('<p>old words</p>');
  held.set('tinymce', () => (editor?.getContent({ format: 'text' }) ?? '').replaceAll('\u00a0', ' '));
}

function openReact(): void {
  const Form = () => {
    const [name, setName] = useState('');
    const [kind, setKind] = useState('b');
    const [agreed, setAgreed] = useState(false);
    const [amount, setAmount] = useState('1');
    held.set('react', () => JSON.stringify({ name, kind, agreed, amount }));
    return createElement(
      'div',
      null,
      createElement('input', {
        'aria-label': 'React name',
        value: name,
        onChange: (event) => setName(event.target.value),
      }),
      createElement(
        'select',
        {
          'aria-label': 'React kind',
          value: kind,
          onChange: (event: ChangeEvent<HTMLSelectElement>) => setKind(event.target.value),
        },
        ['a', 'b', 'c'].map((one) => createElement('option', { key: one, value: one }, `Kind ${one}`)),
      ),
      createElement('input', {
        'aria-label': 'React agreed',
        type: 'checkbox',
        checked: agreed,
        onChange: (event) => setAgreed(event.target.checked),
      }),
      // A field that takes digits only, as a mask does.
      createElement('input', {
        'aria-label': 'React amount',
        value: amount,
        onChange: (event) => setAmount(event.target.value.replaceAll(/\D/g, '')),
      }),
      createElement('output', null, `${name} ${kind} ${agreed} ${amount}`),
    );
  };
  createRoot(place('react')).render(createElement(Form));
}

Reflect.set(window, 'held', (name: string) => held.get(name)?.());
openLexical();
openProseMirror();
openCodeMirror();
openMonaco('monaco', true);
openMonaco('monaco-area', false);
openQuill();
openReact();
openTiny().then(() => Reflect.set(window, 'opened', true));
