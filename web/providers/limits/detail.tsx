import { BellRing, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useMutation, useSubscription } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Facts } from '../../design/parts/facts.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Note } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Confirm, FormDialog } from '../../shell/parts/ask.tsx'
import { dollars, microsOf } from '../../shell/parts/money.ts'
import { Panel } from '../../shell/parts/panel.tsx'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { DeleteLimitDocument, LimitChangedDocument, LimitDetailDocument, type LimitDetailsFragment, UpdateLimitDocument } from './limits.generated.ts'
import { limitName, Spent } from './spent.tsx'

/** One limit beside its list: its figures change as calls are made. */
export function LimitPanel({ id, back, reload }: { readonly id: string; readonly back: string; reload(): void }) {
  const { data, state, problem, retry } = useRead(LimitDetailDocument, { id })
  useSubscription({ query: LimitChangedDocument, variables: { id } })
  const limit = data?.spendLimit
  return (
    <Panel label={say('limits.one')} heading={limit && limitName(limit)} back={back} state={data && !limit ? 'error' : state} problem={problem} retry={retry}>
      {limit && <Details limit={limit} back={back} reload={reload} />}
    </Panel>
  )
}

function Details({ limit, back, reload }: { readonly limit: LimitDetailsFragment; readonly back: string; reload(): void }) {
  const [asks, setAsks] = useState<'change' | 'delete' | null>(null)
  const [deleted, remove] = useMutation(DeleteLimitDocument)
  async function destroy() {
    const { data } = await remove({ input: { id: limit.id, expectedVersion: limit.version } })
    if (!data?.deleteSpendLimit) return
    toast({ sentence: say('limits.deleted') })
    reload()
    goTo(back)
  }
  return (
    <>
      <Spent limit={limit} />
      {limit.alerts.map(({ kind, at }) => (
        <Note key={kind} meaning={kind === 'EXHAUSTED' ? 'danger' : 'warning'} icon={BellRing}>
          {say(`alert.${kind}`, { when: moment(at) })}
        </Note>
      ))}
      <div className="actions">
        <Button onPress={() => setAsks('change')}>{say('limits.change')}</Button>
        <Button kind="danger" icon={Trash2} onPress={() => setAsks('delete')}>
          {say('limits.delete')}
        </Button>
      </div>
      <Facts
        of={[
          [say('limits.spent'), dollars(limit.spentMicros)],
          [say('limits.reserved'), dollars(limit.reservedMicros)],
          [say('limits.soft'), limit.softLimitMicros && dollars(limit.softLimitMicros)],
          [say('limits.hard'), limit.hardLimit && dollars(limit.hardLimit.limitMicros)],
          [say('limits.remaining'), limit.hardLimit && dollars(limit.hardLimit.remainingMicros)],
          [say('limits.resets'), limit.resetsAt && moment(limit.resetsAt)],
          [say('limits.unpriced'), say(`unpriced.${limit.unpriced}`)],
          [say('level.heading'), say(`level.${limit.level}`)],
          [say('limits.note'), limit.note],
        ]}
      />
      {asks === 'change' && <ChangeLimit limit={limit} onClose={() => setAsks(null)} />}
      {asks === 'delete' && (
        <Confirm
          title={say('limits.delete-title', { name: limitName(limit) })}
          sentence={say('limits.delete-sentence')}
          verb={say('limits.delete')}
          isBusy={deleted.fetching}
          problem={problemOf(deleted.error)}
          onConfirm={() => void destroy()}
          onClose={() => setAsks(null)}
        />
      )}
    </>
  )
}

const inDollars = (micros: string | number | null | undefined) => (micros === null || micros === undefined ? '' : String(Number(micros) / 1_000_000))

function ChangeLimit({ limit, onClose }: { readonly limit: LimitDetailsFragment; onClose(): void }) {
  const [{ error, fetching }, update] = useMutation(UpdateLimitDocument)
  const [soft, setSoft] = useState(inDollars(limit.softLimitMicros))
  const [hard, setHard] = useState(inDollars(limit.hardLimit?.limitMicros))
  const [note, setNote] = useState(limit.note ?? '')
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  const wrong = (text: string, field: string) =>
    problem?.field === field ? problem.sentence : isTried && text.trim() !== '' && microsOf(text) === null ? say('limits.no-amount') : null
  async function save() {
    setTried(true)
    if ([soft, hard].some(text => text.trim() !== '' && microsOf(text) === null)) return
    const input = {
      id: limit.id,
      softLimitMicros: soft.trim() === '' ? null : microsOf(soft),
      ...(limit.hardLimit && { hardLimitMicros: microsOf(hard) }),
      note: note.trim() || null,
      expectedVersion: limit.version,
    }
    const { data } = await update({ input })
    if (!data?.updateSpendLimit) return
    toast({ sentence: say('limits.changed') })
    onClose()
  }
  return (
    <FormDialog
      title={say('limits.change')}
      verb={say('action.save')}
      isBusy={fetching}
      problem={problem}
      fields={['softLimitMicros', 'hardLimitMicros']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Field
        label={say('limits.soft-dollars')}
        inputMode="decimal"
        value={soft}
        onChange={setSoft}
        hint={say('limits.soft-hint')}
        wrong={wrong(soft, 'softLimitMicros')}
      />
      {limit.hardLimit && (
        <Field
          label={say('limits.hard-dollars')}
          inputMode="decimal"
          value={hard}
          onChange={setHard}
          hint={say('limits.hard-hint')}
          wrong={wrong(hard, 'hardLimitMicros')}
        />
      )}
      <Field label={say('limits.note')} value={note} onChange={setNote} />
    </FormDialog>
  )
}
