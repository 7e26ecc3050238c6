// The build puts the messages here that the first screen does not show.
export const es = {};
