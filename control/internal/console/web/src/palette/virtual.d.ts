declare module 'virtual:docs' {
  export const pages: readonly (readonly [file: string, title: string, ...sections: string[]])[];
}
