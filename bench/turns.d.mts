export function takeTurns(work: () => Promise<string>): Promise<void>
