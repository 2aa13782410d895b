/** After how many ms a mail is tried again that the server put off or that broke; after the last it is given up. */
export const retryAfterMs: readonly number[] = [5_000, 30_000, 300_000, 3_600_000]

/** How many mails of one kind go to one address within how many ms; further ones silently do not. */
export const perAddress = { most: 5, windowMs: 3_600_000 }

/** How long one conversation with the mail server may take, in ms. */
export const times = { connectMs: 10_000, talkMs: 30_000 }

/** For how long a mail belongs to the try that has it, in ms: longer than a try may take. After it a try counts as dead, and another one begins. */
export const claimMs = 45_000

/** How late a mail may be, in ms, before its code is looked at again: one whose link is dead by then helps nobody. */
export const lateMs = 60_000

/** When a mail is to be tried again that has failed so often; null: never. */
export const nextTry = (failures: number, now: Date): Date | null => {
  const ms = retryAfterMs[failures - 1]
  return ms === undefined ? null : new Date(now.getTime() + ms)
}
