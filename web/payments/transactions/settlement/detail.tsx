import { RotateCw } from 'lucide-react'
import { useEffect } from 'react'
import { useMutation, useSubscription } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Facts } from '../../../design/parts/facts.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { useOnce } from '../../../shell/data/draft.ts'
import { problemOf } from '../../../shell/data/problems.ts'
import { useRights } from '../../../shell/frame/rights.ts'
import { money } from '../../../shell/parts/money.ts'
import { Panel } from '../../../shell/parts/panel.tsx'
import { useRead } from '../../../shell/read.ts'
import { Failure } from '../../../shell/region.tsx'
import { moment } from '../../../shell/time.ts'
import { say } from '../../../shell/words.ts'
import {
  type BatchCallbackFragment,
  type BatchLineFragment,
  ResendSettlementCallbackDocument,
  SettlementBatchChangesDocument,
  SettlementBatchDetailDocument,
} from './settlement.generated.ts'
import { BatchState, CallbackState, LineState } from './state.tsx'

/** One batch beside the list: what became of each line, and what its submitter was told. It changes by itself. */
export function BatchPanel({ id, back }: { readonly id: string; readonly back: string }) {
  const { data, state, problem, retry } = useRead(SettlementBatchDetailDocument, { id })
  const [{ data: changed }] = useSubscription({ query: SettlementBatchChangesDocument, variables: { id } })
  const version = changed?.settlementBatchUpdated?.version
  useEffect(() => {
    if (version !== undefined) retry()
  }, [version])
  const batch = data?.settlementBatch
  const lines = (batch?.lines?.nodes ?? []).filter(each => each !== null)
  const callbacks = (batch?.callbacks ?? []).filter(each => each !== null)
  return (
    <Panel label={say('settlement.one')} heading={batch?.externalBatchId} back={back} state={data && !batch ? 'error' : state} problem={problem} retry={retry}>
      {batch && (
        <>
          <div>
            <BatchState status={batch.status} />
          </div>
          <Facts
            of={[
              [say('orders.total'), money(batch.controlTotal)],
              [say('settlement.settled'), money(batch.settledTotal)],
              [say('settlement.reversed'), Number(batch.reversedTotal.amountMinor) !== 0 && money(batch.reversedTotal)],
              [say('settlement.by'), batch.submittedBy],
              [say('settlement.decision'), batch.policyDecisionId],
              [say('settlement.hash'), `${batch.contentHash.slice(0, 16)}…`],
              [say('settlement.submitted'), moment(batch.createdAt)],
              [say('settlement.completed'), batch.completedAt && moment(batch.completedAt)],
            ]}
          />
          <h3>{say('settlement.lines')}</h3>
          <ul className="list">
            {lines.map(line => (
              <Line key={line.lineId} line={line} />
            ))}
          </ul>
          {(batch.lines?.totalCount ?? 0) > lines.length && (
            <p className="quiet small">{say('settlement.more', { count: (batch.lines?.totalCount ?? 0) - lines.length })}</p>
          )}
          <h3>{say('settlement.callbacks')}</h3>
          <ul className="list">
            {callbacks.map(callback => (
              <Callback key={callback.id} callback={callback} reload={retry} />
            ))}
            {callbacks.length === 0 && <li className="quiet">{say('settlement.no-callback')}</li>}
          </ul>
        </>
      )}
    </Panel>
  )
}

const Line = ({ line: { amount, failure, payee, payer, reference, status } }: { readonly line: BatchLineFragment }) => (
  <li>
    <div className="grow">
      <p className="clip">{`${payer} → ${payee}`}</p>
      <p className="quiet small">{failure?.message ?? reference}</p>
    </div>
    <span className="figures">{money(amount)}</span>
    <LineState status={status} />
  </li>
)

function Callback({ callback, reload }: { readonly callback: BatchCallbackFragment; reload(): void }) {
  const mayResend = useRights().may('payments:settlements.write')
  const idempotencyKey = useOnce()
  const [{ error, fetching }, resend] = useMutation(ResendSettlementCallbackDocument)
  const { attempts, deliveredAt, id, nextAttemptAt, status, type } = callback
  const last = attempts.at(-1)
  const problem = problemOf(error)
  async function again() {
    const { data } = await resend({ input: { id, idempotencyKey } })
    if (!data?.resendSettlementCallback) return
    toast({ sentence: say('settlement.resent') })
    reload()
  }
  return (
    <li data-callback={id}>
      <div className="grow">
        <p className="clip">{type}</p>
        <p className="quiet small">
          {deliveredAt
            ? moment(deliveredAt)
            : [last?.error ?? last?.status, nextAttemptAt && say('settlement.next', { when: moment(nextAttemptAt) })].filter(Boolean).join(' · ')}
        </p>
        {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      </div>
      <CallbackState status={status} />
      {mayResend && (
        <Button
          kind="quiet"
          icon={RotateCw}
          isDisabled={fetching}
          name={say('action.of', { action: say('settlement.resend'), name: type })}
          onPress={() => void again()}
        />
      )}
    </li>
  )
}
