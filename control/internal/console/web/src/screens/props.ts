/** What a screen gets: the groups of the pattern of its path. */
export interface ScreenProps {
  id: string;
}
