export function takeTurns(work: () => Promise<unknown>, told?: { readonly operations?: number; readonly answer?: string }): Promise<void>
