import { Component, h, type ComponentChild, type ComponentType } from 'preact';

/** A component that is drawn again only when a property changes. preact/compat has one, too, but costs two kilobytes. */
export function memo<P extends object>(Draw: ComponentType<P>): ComponentType<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const names = new Set([...Object.keys(this.props), ...Object.keys(next)]) as Set<keyof P>;
      const last: Partial<P> = this.props;
      return [...names].some((name) => last[name] !== next[name]);
    }
    override render(): ComponentChild {
      return h(Draw, this.props as P);
    }
  };
}
