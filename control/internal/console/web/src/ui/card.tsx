import { useId } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import './card.css';

interface CardProps {
  title: string;
  /** One line about what the card shows, such as its period. */
  note?: ComponentChildren;
  /** Actions or a menu at the end of the heading. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** A part of a screen with a border, for things of one kind beside each other. One thing alone needs no border: use a section. */
export function Card({ title, note, actions, children }: CardProps) {
  const id = useId();
  return (
    <section class="boxed" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {note && <p class="hint">{note}</p>}
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}
