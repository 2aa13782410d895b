import { CircleAlert, CircleHelp } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Facts } from '../../design/parts/facts.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Select } from '../../design/parts/select.tsx'
import { Note } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { Link } from '../../shell/address.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { money } from '../../shell/parts/money.ts'
import { Panel } from '../../shell/parts/panel.tsx'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { TransactionState } from './state.tsx'
import { ResolveTransactionDocument, TransactionDetailDocument, type TransactionDetailsFragment, type TransactionResolution } from './transactions.generated.ts'

/** One transaction beside the list; one whose outcome nobody knows can be ended by a person's word. */
export function TransactionPanel({ id, back }: { readonly id: string; readonly back: string }) {
  const { data, state, problem, retry } = useRead(TransactionDetailDocument, { id })
  const transaction = data?.transaction
  return (
    <Panel
      label={say('transactions.one')}
      heading={transaction && say(`transaction-type.${transaction.type}`)}
      back={back}
      state={data && !transaction ? 'error' : state}
      problem={problem}
      retry={retry}
    >
      {transaction && <Details transaction={transaction} />}
    </Panel>
  )
}

function Details({ transaction }: { readonly transaction: TransactionDetailsFragment }) {
  const { may } = useRights()
  const [resolves, setResolves] = useState(false)
  const { amount, attempts, completedAt, createdAt, failure, orderId, processorId, status } = transaction
  return (
    <>
      <div>
        <TransactionState status={status} />
      </div>
      {status === 'UNKNOWN' ? (
        <Note meaning="warning" icon={CircleHelp}>
          {say('transactions.unknown')}
        </Note>
      ) : (
        failure && (
          <Note meaning="danger" icon={CircleAlert}>
            {failure.message}
          </Note>
        )
      )}
      {status === 'UNKNOWN' && may('payments:transactions.write') && (
        <div className="actions">
          <Button onPress={() => setResolves(true)}>{say('transactions.resolve')}</Button>
        </div>
      )}
      <Facts
        of={[
          [say('transactions.amount'), money(amount)],
          [
            say('orders.order'),
            orderId && (
              <Link key="order" to={`/orders/${orderId}`}>
                {say('transactions.order')}
              </Link>
            ),
          ],
          [say('transactions.processor-id'), processorId],
          [say('transactions.attempts'), attempts],
          [say('transactions.created'), moment(createdAt)],
          [say('transactions.completed'), completedAt && moment(completedAt)],
        ]}
      />
      {resolves && <Resolve transaction={transaction} onClose={() => setResolves(false)} />}
    </>
  )
}

const outcomes: readonly TransactionResolution[] = ['SUCCEEDED', 'FAILED']

/** Says what became of a transaction, once somebody has looked it up at the processor. */
function Resolve({ transaction, onClose }: { readonly transaction: TransactionDetailsFragment; onClose(): void }) {
  const once = useOnce()
  const [{ error, fetching }, resolve] = useMutation(ResolveTransactionDocument)
  const [outcome, setOutcome] = useState<TransactionResolution>('FAILED')
  const [processorId, setProcessorId] = useState(transaction.processorId ?? '')
  const [note, setNote] = useState('')
  const problem = problemOf(error)
  async function save() {
    const input = {
      id: transaction.id,
      outcome,
      ...(outcome === 'SUCCEEDED' && processorId.trim() && { processorId: processorId.trim() }),
      ...(note.trim() && { note: note.trim() }),
      idempotencyKey: once,
    }
    const { data } = await resolve({ input })
    if (!data?.resolveTransaction) return
    toast({ sentence: say('transactions.resolved') })
    onClose()
  }
  return (
    <FormDialog
      title={say('transactions.resolve')}
      verb={say('transactions.record')}
      isBusy={fetching}
      problem={problem}
      fields={['processorId', 'note']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <p>{say('transactions.resolve-sentence', { amount: money(transaction.amount) })}</p>
      <Select
        label={say('transactions.outcome')}
        value={outcome}
        onChange={id => setOutcome(id as TransactionResolution)}
        choices={outcomes.map(id => ({ id, name: say(`transaction-outcome.${id}`) }))}
      />
      {outcome === 'SUCCEEDED' && (
        <Field
          label={say('transactions.processor-id')}
          value={processorId}
          onChange={setProcessorId}
          hint={say('transactions.processor-hint')}
          wrong={problem?.field === 'processorId' ? problem.sentence : null}
        />
      )}
      <Field label={say('transactions.note')} rows={3} value={note} onChange={setNote} wrong={problem?.field === 'note' ? problem.sentence : null} />
    </FormDialog>
  )
}
