/** Whether this browser has passkeys. Browsers hide them from pages that are neither https nor localhost. */
export const supported = (): boolean => 'PublicKeyCredential' in window && 'credentials' in navigator;
