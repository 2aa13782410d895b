import { type FormEvent, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Field } from '../../../design/parts/field.tsx'
import { Select } from '../../../design/parts/select.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { problemOf } from '../../../shell/data/problems.ts'
import { useUnsaved } from '../../../shell/data/unsaved.ts'
import { type Difference, Stale } from '../../../shell/parts/stale.tsx'
import { zones } from '../../../shell/parts/zones.ts'
import { Failure } from '../../../shell/region.tsx'
import { dayName, ownZone } from '../../../shell/time.ts'
import { say } from '../../../shell/words.ts'
import {
  type NotificationPreferencesDigestFrequency as Frequency,
  type PreferencesFragment,
  SavePreferencesDocument,
  type NotificationPreferencesDigestWeekday as Weekday,
} from './notifications.generated.ts'

const frequencies: readonly Frequency[] = ['OFF', 'DAILY', 'WEEKLY']
const weekdays: readonly Weekday[] = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY']
/** What a day of the week is called; 5 January 2026 is a Monday. */
const weekdayName = (day: Weekday): string => dayName(`2026-01-${String(5 + weekdays.indexOf(day)).padStart(2, '0')}`, { weekday: 'long' })

/** What the form shows: what is saved, and over it what was typed. */
interface Shown {
  readonly timeZone: string
  readonly isQuiet: boolean
  readonly from: string
  readonly to: string
  readonly frequency: Frequency
  readonly at: string
  readonly weekday: Weekday
}

const shownOf = ({ timeZone, quietHours, digest: { frequency, at, weekday } }: PreferencesFragment): Shown => ({
  ...{ timeZone, frequency, at, weekday, isQuiet: quietHours !== null },
  ...(quietHours ? { from: quietHours.from, to: quietHours.to } : { from: '22:00', to: '07:00' }),
})

/** What of both versions differs, in words. */
function differencesOf(mine: Shown, theirs: Shown): readonly Difference[] {
  const told = ({ timeZone, isQuiet, from, to, frequency, at, weekday }: Shown) => ({
    'ways.zone': timeZone.replaceAll('_', ' '),
    'ways.quiet': isQuiet ? `${from}–${to}` : say('ways.quiet-none'),
    'ways.digest': [say(`ways.digest-${frequency}`), frequency === 'WEEKLY' && weekdayName(weekday), frequency !== 'OFF' && at].filter(Boolean).join(', '),
  })
  const [own, other] = [told(mine), told(theirs)]
  return (Object.keys(own) as (keyof typeof own)[]).flatMap(key => (own[key] === other[key] ? [] : { name: say(key), mine: own[key], theirs: other[key] }))
}

/** Time zone, quiet hours and digest. */
export function Times({ preferences, reload }: { readonly preferences: PreferencesFragment; reload(): void }) {
  const [{ error, fetching }, save] = useMutation(SavePreferencesDocument)
  const [typed, setTyped] = useState<Partial<Shown>>({})
  // The version that was refused because another one was saved meanwhile, until one of both was chosen.
  const [refused, setRefused] = useState<number | null>(null)
  const saved = shownOf(preferences)
  const shown = { ...saved, ...typed }
  const isChanged = (Object.keys(shown) as (keyof Shown)[]).some(key => shown[key] !== saved[key])
  useUnsaved(isChanged)
  const problem = problemOf(error)
  const set = (changes: Partial<Shown>) => {
    // Where both versions say the same there is nothing to choose.
    if (!isChanged) setRefused(null)
    setTyped({ ...typed, ...changes })
  }
  const wrong = (field: string) => (problem?.field === field ? problem.sentence : null)
  const { timeZone, isQuiet, from, to, frequency, at, weekday } = shown
  const isEmpty = isQuiet && from === to
  // Both are shown once the other one is here: before, it could not be kept apart from what was refused.
  const isStale = refused !== null && refused !== preferences.version && isChanged && !fetching
  async function submit() {
    if (isEmpty) return
    const quietHours = isQuiet ? { from, to } : null
    const answer = await save({ input: { timeZone, quietHours, digest: { frequency, at, weekday }, expectedVersion: preferences.version } })
    // Another tab may have changed them: the next try is about what they are now.
    setRefused(problemOf(answer.error)?.reason === 'STALE_VERSION' ? preferences.version : null)
    if (!answer.data?.updateNotificationPreferences) return reload()
    setTyped({})
    toast({ sentence: say('ways.saved') })
  }
  const take = () => {
    setTyped({})
    setRefused(null)
  }
  return (
    <form
      className="form"
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        void submit()
      }}
      noValidate
    >
      <Select label={say('ways.zone')} choices={zones(timeZone)} value={timeZone} onChange={zone => set({ timeZone: zone })} />
      {timeZone !== ownZone && (
        <p className="quiet small">
          {say('ways.zone-here', { zone: ownZone.replaceAll('_', ' ') })}{' '}
          <Button kind="link" onPress={() => set({ timeZone: ownZone })}>
            {say('ways.zone-take')}
          </Button>
        </p>
      )}
      <fieldset className="field">
        <legend>{say('ways.quiet')}</legend>
        <label className="check">
          <input type="checkbox" checked={isQuiet} onChange={event => set({ isQuiet: event.target.checked })} />
          {say('ways.quiet-on')}
        </label>
        {isQuiet && (
          <div className="pair">
            <Field label={say('ways.quiet-from')} type="time" value={from} onChange={value => set({ from: value })} wrong={wrong('quietHours.from')} required />
            <Field
              label={say('ways.quiet-to')}
              type="time"
              value={to}
              onChange={value => set({ to: value })}
              wrong={isEmpty ? say('ways.quiet-empty') : wrong('quietHours.to')}
              required
            />
          </div>
        )}
        <p className="hint">{say('ways.quiet-means')}</p>
      </fieldset>
      <Select
        label={say('ways.digest')}
        choices={frequencies.map(id => ({ id, name: say(`ways.digest-${id}`) }))}
        value={frequency}
        onChange={id => set({ frequency: frequencies.find(each => each === id) ?? frequency })}
      />
      {frequency !== 'OFF' && (
        <div className="pair">
          {frequency === 'WEEKLY' && (
            <Select
              label={say('ways.digest-weekday')}
              choices={weekdays.map(id => ({ id, name: weekdayName(id) }))}
              value={weekday}
              onChange={id => set({ weekday: weekdays.find(each => each === id) ?? weekday })}
            />
          )}
          <Field label={say('ways.digest-at')} type="time" value={at} onChange={value => set({ at: value })} wrong={wrong('digest.at')} required />
        </div>
      )}
      <p className="quiet small">{say('ways.digest-means')}</p>
      {isStale && <Stale differences={differencesOf(shown, saved)} isBusy={fetching} onKeep={() => void submit()} onTake={take} />}
      {problem && problem.reason !== 'STALE_VERSION' && !/^(?:quietHours\.|digest\.at)/.test(problem.field ?? '') && (
        <Failure sentence={problem.sentence} requestId={problem.requestId} />
      )}
      <div className="actions">
        <Button kind="primary" type="submit" isDisabled={fetching || !isChanged || isEmpty || isStale}>
          {say('action.save')}
        </Button>
      </div>
    </form>
  )
}
