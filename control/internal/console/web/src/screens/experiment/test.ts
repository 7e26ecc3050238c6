import type { Schema } from '../../api/client';

/** What the API knows of the A/B test of a link. */
export interface Test {
  link: Schema<'URL'>;
  variants: Schema<'Variants'>;
  goals: readonly Schema<'Goal'>[];
  /** undefined: there is no experiment. */
  experiment: Schema<'Experiment'> | undefined;
}
