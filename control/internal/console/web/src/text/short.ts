// Short names of messages whose names are put together, as in `status.${status}`. The build replaces their names, which would be an
// eighth of a catalogue.

/** A name of three characters, the first of which is a letter. The build chooses a seed with which all names differ. */
export function short(name: string, seed: number): string {
  let n = 0;
  for (let i = 0; i < name.length; i++) n = (n * seed + name.charCodeAt(i)) % 33_679;
  return (n + 12_960).toString(36);
}
