/**
 * The path of this host that a sign-in is to lead to; null where none was named or it leads elsewhere. A browser drops tabs and line ends
 * from an address, so `/\t/evil.example` would be another host: only visible ASCII counts, as in every address that a page writes.
 * @param wanted `return_to` of the query
 */
export const returnPath = (wanted: string | null): string | null => (wanted !== null && /^\/(?![/\\])[!-~]*$/.test(wanted) ? wanted : null)
