import { readTimeZone } from '../../../../platform/clock.ts'
import { DomainError } from '../../../../platform/errors.ts'
import type { Digest, PreferenceRule, PreferencesRow } from '../../stores/inbox/notification-preferences.ts'

/** Maximum rules of a person. */
export const maxRules = 100

/** What a person has settled, without who and when. */
export type Settled = Pick<PreferencesRow, 'timeZone' | 'quietFrom' | 'quietTo' | 'digest' | 'rules'>

/** What counts before the first change. */
export const unsettled: Settled = {
  ...{ timeZone: 'UTC', quietFrom: null, quietTo: null, rules: [] },
  digest: { frequency: 'OFF', at: '08:00', weekday: 'MONDAY' },
}

type Maybe<T> = T | null | undefined

/** What a change mentions; quiet hours that are null end. */
export interface GivenPreferences {
  readonly timeZone?: Maybe<string>
  readonly quietHours?: Maybe<{ readonly from: string; readonly to: string }>
  readonly digest?: Maybe<{ readonly [Name in keyof Digest]?: Maybe<Digest[Name]> }>
  readonly rules?: Maybe<readonly PreferenceRule[]>
}

const mistake = (field: string, message: string) => new DomainError('BAD_USER_INPUT', message, { field })

function readTime(given: string, field: string): string {
  if (!/^(?:[01]\d|2[0-3]):[0-5]\d$/.test(given)) throw mistake(field, `${field} is ${JSON.stringify(given.slice(0, 20))}: write a local time such as 08:00.`)
  return given
}

function readQuietHours(given: { readonly from: string; readonly to: string } | null): Pick<Settled, 'quietFrom' | 'quietTo'> {
  if (given === null) return { quietFrom: null, quietTo: null }
  const [quietFrom, quietTo] = [readTime(given.from, 'quietHours.from'), readTime(given.to, 'quietHours.to')]
  if (quietFrom === quietTo) throw mistake('quietHours.to', 'quietHours.to is the same as quietHours.from: take another time, or null for no quiet hours.')
  return { quietFrom, quietTo }
}

const forms = { app: /^(?:\*|[a-z0-9][a-z0-9-]{0,79})$/, kind: /^(?:\*|[A-Za-z][A-Za-z0-9_.]{0,63})$/ } as const

function readRules(given: readonly PreferenceRule[]): readonly PreferenceRule[] {
  if (given.length > maxRules) throw mistake('rules', `rules has ${given.length} entries: ${maxRules} are the most.`)
  return given.map(({ app, kind, inApp, email, push }) => {
    if (!forms.app.test(app)) throw mistake('rules.app', 'rules.app takes the slug of an app, or * for all.')
    if (!forms.kind.test(kind)) throw mistake('rules.kind', 'rules.kind takes a kind such as ACCESS_REQUEST or order.paid, or * for all.')
    return { app, kind, inApp, email, push }
  })
}

/** Returns the preferences after a change; what it does not mention stays. @throws BAD_USER_INPUT with the field that is wrong */
export function settled(present: Settled, { timeZone, quietHours, digest, rules }: GivenPreferences): Settled {
  const { frequency, at, weekday } = digest ?? {}
  return {
    timeZone: timeZone === null || timeZone === undefined ? present.timeZone : readTimeZone(timeZone),
    ...(quietHours === undefined ? { quietFrom: present.quietFrom, quietTo: present.quietTo } : readQuietHours(quietHours)),
    digest: {
      frequency: frequency ?? present.digest.frequency,
      at: at ? readTime(at, 'digest.at') : present.digest.at,
      weekday: weekday ?? present.digest.weekday,
    },
    rules: rules ? readRules(rules) : present.rules,
  }
}

/** Returns preferences for clients. */
export const shown = ({ timeZone, quietFrom, quietTo, digest, rules, version }: Settled & { readonly version: number }) => ({
  ...{ timeZone, digest, rules, version },
  quietHours: quietFrom === null || quietTo === null ? null : { from: quietFrom, to: quietTo },
})
