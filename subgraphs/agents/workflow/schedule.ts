import { DomainError } from '../../../platform/errors.ts'

const fiveFields = /^[\d*/,\-A-Za-z?#]+(?: [\d*/,\-A-Za-z?#]+){4}$/
/** A field that stands for a moment drawn by lot, which some programs know. */
const drawn = /(?:^|[ ,/-])h/i

const wrongCron = (why: string): DomainError =>
  new DomainError('BAD_USER_INPUT', `trigger.cron ${why}: write minute, hour, day of the month, month and day of the week, such as "0 9 * * 1-5".`, {
    field: 'trigger.cron',
  })

/** Reads an expression of five fields, without the spaces around them. Whether it has a next moment, `nextTurn` says. @throws BAD_USER_INPUT */
export function readCron(given: string | null | undefined): string {
  const cron = (given ?? '').trim().replace(/\s+/g, ' ')
  if (cron.length <= 200 && fiveFields.test(cron) && !drawn.test(cron)) return cron
  throw wrongCron(given ? 'has not five fields' : 'is missing')
}

/** Reads the name of a time zone; UTC where it is left out. @throws BAD_USER_INPUT */
export function readTimeZone(given: string | null | undefined): string {
  if (given === null || given === undefined) return 'UTC'
  try {
    return new Intl.DateTimeFormat('en', { timeZone: given }).resolvedOptions().timeZone
  } catch {
    throw new DomainError('BAD_USER_INPUT', 'trigger.timeZone is no time zone: write one such as "Europe/Berlin".', { field: 'trigger.timeZone' })
  }
}

/**
 * Finds the first moment of a schedule after another one. Times that a clock skips in spring come an hour later, and those that it repeats
 * in autumn come once.
 * @throws BAD_USER_INPUT for an expression that no moment fulfils
 */
export async function nextTurn({ cron, timeZone }: { readonly cron: string; readonly timeZone: string }, after: Date): Promise<Date> {
  const { CronExpressionParser } = await import('cron-parser')
  try {
    return CronExpressionParser.parse(cron, { currentDate: after, tz: timeZone }).next().toDate()
  } catch (error) {
    throw wrongCron(`is not understood (${(error as Error).message})`)
  }
}
