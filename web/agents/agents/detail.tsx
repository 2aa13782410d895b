import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Facts } from '../../design/parts/facts.tsx'
import { Link } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { Confirm } from '../../shell/parts/ask.tsx'
import { Panel } from '../../shell/parts/panel.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { AgentDetailDocument, type AgentDetailsFragment, ArchiveAgentDocument, UpdateAgentDocument } from './agents.generated.ts'
import { AgentForm } from './form.tsx'
import { AgentState, spentOf } from './state.tsx'

/** One agent beside the list: what it is told, with which model, and what it costs. */
export function AgentPanel({ id, back }: { readonly id: string; readonly back: string }) {
  const { may } = useRights()
  const { data, state, problem, retry } = useRead(AgentDetailDocument, { id })
  const agent = data?.agent
  return (
    <Panel label={say('agents.one')} heading={agent?.name} back={back} state={data && !agent ? 'error' : state} problem={problem} retry={retry}>
      {agent && (
        <>
          <div>
            <AgentState status={agent.status} />
          </div>
          {agent.description && <p dir="auto">{agent.description}</p>}
          {may('agents:agents.write') && agent.status !== 'ARCHIVED' && <Actions agent={agent} />}
          <h3>{say('agents.instructions')}</h3>
          {agent.instructions ? (
            <p className="text" dir="auto">
              {agent.instructions}
            </p>
          ) : (
            <p className="quiet">{say('agents.no-instructions')}</p>
          )}
          <Facts
            of={[
              [say('agents.model'), agent.model ?? say('agents.no-model')],
              [
                say('agents.profile'),
                agent.personProfile && (
                  <Link key="profile" to={`/profiles/${agent.personProfile.id}`}>
                    {agent.personProfile.displayName}
                  </Link>
                ),
              ],
              [
                say('agents.sources'),
                (agent.knowledgeSources ?? []).length > 0 && (
                  <span key="sources">
                    {(agent.knowledgeSources ?? [])
                      .flatMap(each => each ?? [])
                      .map(({ id: source, title }, at) => (
                        <span key={source}>
                          {at > 0 && ', '}
                          <Link to={`/knowledge/${source}`}>{title}</Link>
                        </span>
                      ))}
                  </span>
                ),
              ],
              [say('agents.spent'), spentOf(agent)],
              [say('agents.created'), moment(agent.createdAt)],
            ]}
          />
          {(agent.versions ?? []).length > 0 && (
            <details>
              <summary>{say('agents.versions')}</summary>
              <ol className="timeline">
                {(agent.versions ?? []).map(({ version, at, user }) => (
                  <li key={version}>{say('agents.version', { version, name: user?.name ?? say('actor.other'), when: moment(at) })}</li>
                ))}
              </ol>
            </details>
          )}
        </>
      )}
    </Panel>
  )
}

function Actions({ agent }: { readonly agent: AgentDetailsFragment }) {
  const [asks, setAsks] = useState<'change' | 'archive' | null>(null)
  const [updated, update] = useMutation(UpdateAgentDocument)
  const [archived, archive] = useMutation(ArchiveAgentDocument)
  const known = { id: agent.id, expectedVersion: agent.version }
  const problem = problemOf(updated.error)
  const status = agent.status === 'ACTIVE' ? 'PAUSED' : 'ACTIVE'
  async function end() {
    const { data } = await archive({ input: known })
    if (data?.archiveAgent) setAsks(null)
  }
  return (
    <>
      <div className="actions">
        <Button onPress={() => setAsks('change')}>{say('agents.change')}</Button>
        <Button isDisabled={updated.fetching} onPress={() => void update({ input: { ...known, status } })}>
          {say(status === 'PAUSED' ? 'agents.pause' : 'agents.resume')}
        </Button>
        <Button kind="danger" onPress={() => setAsks('archive')}>
          {say('agents.archive')}
        </Button>
      </div>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {asks === 'change' && <AgentForm agent={agent} onClose={() => setAsks(null)} />}
      {asks === 'archive' && (
        <Confirm
          title={say('agents.archive')}
          sentence={say('agents.archive-sentence', { name: agent.name })}
          verb={say('agents.archive')}
          isBusy={archived.fetching}
          problem={problemOf(archived.error)}
          onConfirm={() => void end()}
          onClose={() => setAsks(null)}
        />
      )}
    </>
  )
}
