import { FileText } from 'lucide-react'
import { useEffect } from 'react'
import { Facts } from '../../../design/parts/facts.tsx'
import { Icon } from '../../../design/parts/icon.tsx'
import { Note } from '../../../design/parts/status.tsx'
import { Link } from '../../../shell/address.tsx'
import { money } from '../../../shell/parts/money.ts'
import { Panel } from '../../../shell/parts/panel.tsx'
import { useRead } from '../../../shell/read.ts'
import { moment } from '../../../shell/time.ts'
import { say } from '../../../shell/words.ts'
import { DisputeActions } from './actions.tsx'
import { DisputeDetailDocument, type DisputeDetailsFragment } from './disputes.generated.ts'
import { DisputeState, looks, reasonOf } from './state.tsx'

/** While the bank decides its answer is looked for so often, in ms. */
const againMs = 5000

/** One dispute beside the list: what it means, what was given to the bank, and what can be done. @param reload reads the list anew */
export function DisputePanel({ id, back, reload }: { readonly id: string; readonly back: string; reload(): void }) {
  const { data, state, problem, retry } = useRead(DisputeDetailDocument, { id })
  const dispute = data?.dispute
  const isUnderReview = dispute?.status === 'UNDER_REVIEW'
  useEffect(() => {
    if (!isUnderReview) return
    const timer = setInterval(retry, againMs)
    return () => clearInterval(timer)
  }, [isUnderReview])
  return (
    <Panel
      label={say('disputes.one')}
      heading={dispute && say('disputes.of', { amount: money(dispute.amount) })}
      back={back}
      state={data && !dispute ? 'error' : state}
      problem={problem}
      retry={retry}
    >
      {dispute && (
        <>
          <div>
            <DisputeState status={dispute.status} />
          </div>
          <Note meaning={looks[dispute.status][0]} icon={looks[dispute.status][1]}>
            {say(`dispute-means.${dispute.status}`)}
          </Note>
          <DisputeActions dispute={dispute} again={retry} reload={reload} />
          <Facts
            of={[
              [say('refunds.amount'), money(dispute.amount)],
              [say('disputes.reason'), reasonOf(dispute.reason)],
              [
                say('orders.order'),
                dispute.order && (
                  <Link key="order" to={`/orders/${dispute.order.id}`}>
                    {dispute.order.number}
                  </Link>
                ),
              ],
              [say('disputes.due'), dispute.evidenceDueBy && moment(dispute.evidenceDueBy)],
              [say('disputes.opened'), moment(dispute.openedAt)],
              [say('disputes.closed'), dispute.closedAt && moment(dispute.closedAt)],
              [say('transactions.processor-id'), dispute.processorId],
            ]}
          />
          <Given evidence={dispute.evidence} />
        </>
      )}
    </Panel>
  )
}

/** What was given to the bank. */
function Given({ evidence }: Pick<DisputeDetailsFragment, 'evidence'>) {
  if (!evidence) return null
  return (
    <>
      <h3>{say('disputes.evidence')}</h3>
      <p className="quiet small">{say('disputes.given', { name: evidence.submittedBy?.name ?? '–', when: moment(evidence.submittedAt) })}</p>
      {evidence.text && (
        <p className="text" dir="auto">
          {evidence.text}
        </p>
      )}
      <ul className="list">
        {(evidence.files ?? []).map(({ id, name, bytes }) => (
          <li key={id}>
            <Icon of={FileText} />
            <span className="grow clip">{name}</span>
            <span className="quiet small">{say('disputes.size', { size: Math.max(1, Math.round(bytes / 1024)) })}</span>
          </li>
        ))}
      </ul>
    </>
  )
}
