export function takeTurns(
  work: () => Promise<unknown>,
  told?: { readonly operations?: number; readonly answer?: string; readonly others?: () => number },
): Promise<void>
