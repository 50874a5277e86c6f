// The labels of fields.
import { known } from './moment.ts';

// The labels of all fields of a document or shadow root, while one walk goes over it: Chrome looks for the labels of
// each field in the whole document.
let labelled: Map<Node, Map<Element, Element[]>> | undefined;

/** The labels of a field. */
export function labelsOf(element: Element): readonly Element[] {
  const about = known(element);
  about.labels ??= readLabels(element);
  return about.labels;
}

function readLabels(element: Element): readonly Element[] {
  if (labelled === undefined) {
    labelled = new Map();
    queueMicrotask(() => {
      labelled = undefined;
    });
  }
  const root = Node.prototype.getRootNode.call(element);
  let ofRoot = labelled.get(root);
  if (ofRoot === undefined) {
    ofRoot = new Map();
    labelled.set(root, ofRoot);
    for (const label of root instanceof Document || root instanceof ShadowRoot
      ? root.querySelectorAll('label')
      : []) {
      const { control } = label;
      if (control !== null) ofRoot.set(control, [...(ofRoot.get(control) ?? []), label]);
    }
  }
  return ofRoot.get(element) ?? (root instanceof ShadowRoot ? labelsOfHost(element, root) : []);
}

const controls = 'input:not([type=hidden]), select, textarea, button';

// A component that is all about one field passes its labels on to that.
function labelsOfHost(field: Element, root: ShadowRoot): readonly Element[] {
  const all = root.querySelectorAll(controls);
  return all.length === 1 && all[0] === field ? labelsOf(root.host) : [];
}
