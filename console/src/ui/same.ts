// Rows of long lists. One that did not change since it was drawn is not drawn or compared again: a list costs what is new. (Giving the same
// node again would do so too, but keeps every row that ever was.)

import { Component, type VNode } from "preact";

interface KeptProps {
  row: object;
  /** Everything else that the row's looks depend on. */
  of: string;
  draw: () => VNode;
}

export class Kept extends Component<KeptProps> {
  override shouldComponentUpdate(next: KeptProps): boolean {
    return next.row !== this.props.row || next.of !== this.props.of;
  }

  override render({ draw }: KeptProps): VNode {
    return draw();
  }
}
