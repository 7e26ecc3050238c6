import './labels.css';

/** The colour of a tag or a bundle. */
export const Dot = ({ color }: { color: string }) => (
  <span class="dot" style={{ '--color': color }} aria-hidden="true" />
);
