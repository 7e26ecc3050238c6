// The types of messages.
import type { Language } from './index';
import type { messages } from './messages';

/** The forms of a message with a number, by plural category. */
export type Plural = { other: string } & Partial<Record<Intl.LDMLPluralRule, string>>;

/** An area of the messages: each has its text in every language, or a text for each plural category. */
export type Messages = Readonly<Record<string, Record<Language, string> | Record<Language, Plural>>>;

/** The name of a message. */
export type Key = keyof typeof messages;

/** The messages in English, whose placeholders the types check. */
export type English = { [K in Key]: (typeof messages)[K]['en'] };

/** The messages of a language. */
export type Catalogue = Readonly<Record<Key, string | Plural>>;
