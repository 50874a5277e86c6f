// A ProseMirror that tells the page around it what it holds.

import { exampleSetup } from 'prosemirror-example-setup';
import { schema } from 'prosemirror-schema-basic';
import { EditorState } from 'prosemirror-state';
import { EditorView } from 'prosemirror-view';

const view = new EditorView(document.getElementById('place'), {
  state: EditorState.create({ schema, plugins: exampleSetup({ schema, menuBar: false }) }),
  attributes: { 'aria-label': 'Text of the article' },
  dispatchTransaction(transaction) {
    view.updateState(view.state.apply(transaction));
    const { doc } = view.state;
    parent.postMessage(doc.textBetween(0, doc.content.size, '\n'), '*');
  },
});
