import { ArrowDown, ArrowUp, BellRing, Pencil, Plus, Trash2 } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Icon } from '../../../design/parts/icon.tsx'
import { Select } from '../../../design/parts/select.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { problemOf } from '../../../shell/data/problems.ts'
import { FormDialog } from '../../../shell/parts/ask.tsx'
import { locale } from '../../../shell/place.ts'
import { Failure, Region } from '../../../shell/region.tsx'
import { say } from '../../../shell/words.ts'
import { all, appChoices, appName, kindChoices, kindName } from './kinds.ts'
import { type PreferencesFragment, SavePreferencesDocument } from './notifications.generated.ts'

type Rule = PreferencesFragment['rules'][number]

const ways = ['inApp', 'email', 'push'] as const
/** How many rules a person may have. */
const maxRules = 100

const list = new Intl.ListFormat(locale, { type: 'conjunction' })

/** By which ways a rule has something told, as a sentence has it. */
const waysOf = (rule: Rule): string => {
  const chosen = ways.filter(way => rule[way])
  return chosen.length === 0 ? say('ways.none') : list.format(chosen.map(way => say(`ways.${way}`)))
}

const nameOf = ({ app, kind }: Pick<Rule, 'app' | 'kind'>): string => `${appName(app)} · ${kindName(kind)}`

/** Which app and kind comes by which ways: of several rules that fit the first counts, so their order can be changed. */
export function Rules({ preferences: { rules, version }, reload }: { readonly preferences: PreferencesFragment; reload(): void }) {
  const [{ error, fetching }, save] = useMutation(SavePreferencesDocument)
  /** The rule whose form is open, by its place; one after the last is a new one. */
  const [open, setOpen] = useState<number | null>(null)
  const problem = problemOf(error)
  const lines = useRef<HTMLOListElement>(null)
  /** The place of a rule that was moved, and which way: its button keeps the focus. */
  const moved = useRef<{ readonly to: number; readonly by: number } | null>(null)
  useEffect(() => {
    if (!moved.current) return
    const { to, by } = moved.current
    moved.current = null
    const [up, down] = lines.current?.children[to]?.querySelectorAll('button') ?? []
    const [same, other] = by < 0 ? [up, down] : [down, up]
    if (same?.disabled) other?.focus()
    else same?.focus()
  }, [rules])
  async function write(next: readonly Rule[], sentence: string) {
    const input = next.map(({ app, kind, inApp, email, push }) => ({ app, kind, inApp, email, push }))
    const { data } = await save({ input: { rules: input, expectedVersion: version } })
    if (!data?.updateNotificationPreferences) return reload()
    setOpen(null)
    toast({ sentence })
  }
  const move = (at: number, to: number) => {
    if (fetching) return
    moved.current = { to, by: to - at }
    const next = rules.toSpliced(at, 1).toSpliced(to, 0, rules[at]!)
    void write(next, say('ways.moved', { name: nameOf(rules[at]!), position: to + 1 }))
  }
  const add = (
    <Button icon={Plus} isDisabled={rules.length >= maxRules} onPress={() => setOpen(rules.length)}>
      {say('ways.add')}
    </Button>
  )
  return (
    <>
      <Region
        isFlush={rules.length > 0}
        title={say('ways.rules')}
        tools={rules.length > 0 && add}
        state={rules.length > 0 ? 'ready' : 'empty'}
        empty={{ icon: BellRing, sentence: say('ways.rules-empty'), action: add }}
      >
        <ol className="list" ref={lines}>
          {rules.map((rule, at) => {
            const name = nameOf(rule)
            return (
              // Two rules of the same app and kind differ by their place alone.
              <li key={`${at} ${rule.app} ${rule.kind}`} data-rule={`${rule.app} ${rule.kind}`}>
                <Icon of={BellRing} large />
                <div className="grow">
                  <p className="clip">{name}</p>
                  <p className="quiet small">{waysOf(rule)}</p>
                </div>
                <Button kind="quiet" icon={ArrowUp} name={say('ways.up', { name })} isDisabled={at === 0} onPress={() => move(at, at - 1)} />
                <Button kind="quiet" icon={ArrowDown} name={say('ways.down', { name })} isDisabled={at === rules.length - 1} onPress={() => move(at, at + 1)} />
                <Button kind="quiet" icon={Pencil} name={say('ways.edit', { name })} onPress={() => setOpen(at)} />
                <Button
                  kind="quiet"
                  icon={Trash2}
                  name={say('ways.remove', { name })}
                  isDisabled={fetching}
                  onPress={() => void write(rules.toSpliced(at, 1), say('ways.removed', { name }))}
                />
              </li>
            )
          })}
        </ol>
        <div className="pager">
          <span>{say('ways.rules-means')}</span>
        </div>
      </Region>
      {problem && open === null && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {open !== null && (
        <RuleDialog
          rule={rules[open] ?? null}
          isBusy={fetching}
          problem={problem}
          onDo={rule => void write(rules.toSpliced(open, 1, rule), say('ways.rule-saved', { name: nameOf(rule) }))}
          onClose={() => setOpen(null)}
        />
      )}
    </>
  )
}

function RuleDialog({
  rule,
  isBusy,
  problem,
  onDo,
  onClose,
}: {
  readonly rule: Rule | null
  readonly isBusy: boolean
  readonly problem: ReturnType<typeof problemOf>
  onDo(rule: Rule): void
  onClose(): void
}) {
  const [shown, setShown] = useState<Rule>(rule ?? { app: all, kind: all, inApp: true, email: false, push: false })
  const verb = say(rule ? 'ways.save-rule' : 'ways.add')
  const { app, kind } = shown
  return (
    <FormDialog title={verb} verb={verb} isBusy={isBusy} problem={problem} onDo={() => onDo(shown)} onClose={onClose}>
      <Select
        label={say('ways.app')}
        choices={appChoices(app)}
        value={app}
        onChange={next => {
          const isTold = kindChoices(next, all).some(({ id }) => id === kind)
          setShown({ ...shown, app: next, kind: isTold ? kind : all })
        }}
      />
      <Select label={say('ways.kind')} choices={kindChoices(app, kind)} value={kind} onChange={next => setShown({ ...shown, kind: next })} />
      <fieldset className="field">
        <legend>{say('ways.by')}</legend>
        <div className="choices">
          {ways.map(way => (
            <label key={way}>
              <input type="checkbox" checked={shown[way]} onChange={event => setShown({ ...shown, [way]: event.target.checked })} />
              {say(`ways.${way}-means`)}
            </label>
          ))}
        </div>
        <p className="hint">{say('ways.critical')}</p>
      </fieldset>
    </FormDialog>
  )
}
