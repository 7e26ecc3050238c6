// The types of messages, and how a language translates them.
import type { en } from './en';

export type English = typeof en;

/** The name of a message. */
export type Key = keyof English;

/** The forms of a message with a number, by plural category. */
export type Plural = { other: string } & Partial<Record<Intl.LDMLPluralRule, string>>;

/** The translation of an area of the catalogue, such as `links`: each of its messages. */
export type Translation<Area> = { readonly [K in keyof Area]: Area[K] extends string ? string : Plural };

/** The messages of a language, which are all of the English ones. */
export type Catalogue = Translation<English>;
