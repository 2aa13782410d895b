import { Clock } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Facts } from '../../design/parts/facts.tsx'
import { Note } from '../../design/parts/status.tsx'
import { Link } from '../../shell/address.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Panel } from '../../shell/parts/panel.tsx'
import { useRead } from '../../shell/read.ts'
import { lately, moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { actorName, shown } from '../runs/state.tsx'
import { ApprovalDetailDocument, type ApprovalDetailsFragment } from './approvals.generated.ts'
import { Decide } from './decide.tsx'
import { DecisionLink } from './link.tsx'
import { ApprovalState, Risk } from './state.tsx'

/** One approval beside the list: exactly what will run, until when, and who decided. @param reload reads the list anew */
export function ApprovalPanel({ id, back, reload }: { readonly id: string; readonly back: string; reload(): void }) {
  const mayDecide = useRights().may('agents:approvals.write')
  const { data, state, problem, retry } = useRead(ApprovalDetailDocument, { id })
  const approval = data?.approval
  return (
    <Panel label={say('approvals.one')} heading={approval?.title} back={back} state={data && !approval ? 'error' : state} problem={problem} retry={retry}>
      {approval && (
        <>
          <div className="actions">
            <ApprovalState status={approval.status} />
            <Risk risk={approval.risk} />
          </div>
          {approval.description && <p dir="auto">{approval.description}</p>}
          {approval.status === 'PENDING' && <Expiry expiresAt={approval.expiresAt} onExpiry={approval.onExpiry} />}
          <Facts
            of={[
              [say('approvals.tool'), approval.tool && <code key="tool">{approval.tool}</code>],
              [say('approvals.counterparty'), approval.counterparty],
              [
                say('runs.one'),
                approval.run && (
                  <Link key="run" to={`/runs/${approval.run.id}`}>
                    {approval.run.workflow?.name ?? say('runs.single')}
                  </Link>
                ),
              ],
              [say('approvals.asked'), moment(approval.createdAt)],
              [say('approvals.escalated'), approval.escalatedAt && moment(approval.escalatedAt)],
              [say('approvals.hash'), <code key="hash">{`${approval.argumentsHash.slice(0, 16)}…`}</code>],
            ]}
          />
          <h3>{say('approvals.arguments')}</h3>
          {approval.arguments === null || approval.arguments === undefined ? (
            <p className="quiet">{say('approvals.no-arguments')}</p>
          ) : (
            <pre className="text small" dir="auto">
              {shown(approval.arguments)}
            </pre>
          )}
          <Decide approval={approval} again={retry} reload={reload} />
          {approval.status === 'PENDING' && mayDecide && <DecisionLink approvalId={approval.id} />}
          <Decisions approval={approval} />
        </>
      )}
    </Panel>
  )
}

/** Until when somebody can decide, counted, and what happens then. */
function Expiry({ expiresAt, onExpiry }: Pick<ApprovalDetailsFragment, 'expiresAt' | 'onExpiry'>) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  const [soon, time] = [lately(expiresAt, now), moment(expiresAt)]
  return (
    <Note meaning="info" icon={Clock}>
      {say(`approvals.until-${onExpiry}`, { when: soon === time ? time : say('approvals.soon', { when: soon, time }) })}
    </Note>
  )
}

function Decisions({ approval: { decisions } }: { readonly approval: ApprovalDetailsFragment }) {
  if (!decisions || decisions.length === 0) return null
  return (
    <>
      <h3>{say('approvals.decisions')}</h3>
      <ol className="timeline">
        {decisions.map(({ actor, arguments: given, at, comment, decision, user }) => (
          <li key={at}>
            <div className="grow">
              <p>{say('approvals.decided-by', { verdict: say(`verdict.${decision}`), name: actorName(actor, user), when: moment(at) })}</p>
              {comment && <p dir="auto">{comment}</p>}
              {decision === 'EDIT' && given !== null && given !== undefined && (
                <pre className="text small" dir="auto">
                  {shown(given)}
                </pre>
              )}
            </div>
          </li>
        ))}
      </ol>
    </>
  )
}
