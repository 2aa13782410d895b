import { CircleAlert, RotateCw } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Facts } from '../../design/parts/facts.tsx'
import { Select } from '../../design/parts/select.tsx'
import { Note } from '../../design/parts/status.tsx'
import { goTo } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { Confirm } from '../../shell/parts/ask.tsx'
import { Panel } from '../../shell/parts/panel.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say, sayIfKnown } from '../../shell/words.ts'
import { Risk } from '../approvals/state.tsx'
import {
  CheckConnectorDocument,
  ConnectorDetailDocument,
  type ConnectorDetailsFragment,
  DeleteConnectorDocument,
  type ToolPermission,
  UpdateConnectorDocument,
} from './connectors.generated.ts'
import { ConnectorForm } from './form.tsx'
import { ConnectorState } from './state.tsx'

const permissions: readonly ToolPermission[] = ['AUTO', 'ASK', 'DENY']

/** One connector beside the list, with what each of its tools may do. @param reload reads the list anew */
export function ConnectorPanel({ id, reload }: { readonly id: string; reload(): void }) {
  const mayWrite = useRights().may('agents:agents.write')
  const { data, state, problem, retry } = useRead(ConnectorDetailDocument, { id })
  const connector = data?.connector
  return (
    <Panel
      label={say('connectors.one')}
      heading={connector?.name}
      back="/connectors"
      state={data && !connector ? 'error' : state}
      problem={problem}
      retry={retry}
    >
      {connector && (
        <>
          <div>
            <ConnectorState status={connector.status} />
          </div>
          {connector.message && (
            <Note meaning="danger" icon={CircleAlert}>
              {connector.message}
            </Note>
          )}
          {mayWrite && <Actions connector={connector} reload={reload} />}
          <Facts
            of={[
              [say('connectors.kind'), sayIfKnown(`connector-kind.${connector.kind}`, connector.kind)],
              [say('connectors.url'), connector.baseUrl],
              [say('connectors.counterparty'), connector.counterparty],
              [say('connectors.checked'), connector.checkedAt && moment(connector.checkedAt)],
            ]}
          />
          <Tools connector={connector} mayWrite={mayWrite} />
        </>
      )}
    </Panel>
  )
}

function Actions({ connector, reload }: { readonly connector: ConnectorDetailsFragment; reload(): void }) {
  const [asks, setAsks] = useState<'change' | 'delete' | null>(null)
  const [checked, check] = useMutation(CheckConnectorDocument)
  const [updated, update] = useMutation(UpdateConnectorDocument)
  const [deleted, remove] = useMutation(DeleteConnectorDocument)
  const { id, kind, name, status, version } = connector
  const known = { id, expectedVersion: version }
  const problem = problemOf(checked.error ?? updated.error)
  const isActive = status !== 'DISABLED'
  async function end() {
    const { data } = await remove({ input: known })
    if (!data?.deleteConnector) return
    reload()
    goTo('/connectors', { replace: true })
  }
  return (
    <>
      <div className="actions">
        {isActive && (
          <Button icon={RotateCw} isDisabled={checked.fetching} onPress={() => void check({ input: known })}>
            {say('connectors.check')}
          </Button>
        )}
        <Button onPress={() => setAsks('change')}>{say('connectors.change')}</Button>
        <Button isDisabled={updated.fetching} onPress={() => void update({ input: { ...known, active: !isActive } })}>
          {say(isActive ? 'connectors.disable' : 'connectors.enable')}
        </Button>
        {kind === 'MCP' && (
          <Button kind="danger" onPress={() => setAsks('delete')}>
            {say('connectors.delete')}
          </Button>
        )}
      </div>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {asks === 'change' && <ConnectorForm connector={connector} reload={reload} onClose={() => setAsks(null)} />}
      {asks === 'delete' && (
        <Confirm
          title={say('connectors.delete')}
          sentence={say('connectors.delete-sentence', { name })}
          verb={say('connectors.delete')}
          isBusy={deleted.fetching}
          problem={problemOf(deleted.error)}
          onConfirm={() => void end()}
          onClose={() => setAsks(null)}
        />
      )}
    </>
  )
}

/** What each tool may do; a change counts at once. */
function Tools({ connector: { id, tools, version }, mayWrite }: { readonly connector: ConnectorDetailsFragment; readonly mayWrite: boolean }) {
  const [{ error, fetching }, update] = useMutation(UpdateConnectorDocument)
  const problem = problemOf(error)
  const permit = (name: string, permission: string) =>
    void update({ input: { id, expectedVersion: version, tools: [{ name, permission: permission as ToolPermission }] } })
  return (
    <>
      <h3>{say('connectors.tools')}</h3>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      <ul className="list" aria-busy={fetching || undefined}>
        {(tools ?? []).map(({ name, title, description, permission, readOnly, risk }) => (
          <li key={name} data-tool={name}>
            <div className="grow">
              <p className="clip">{title ?? name}</p>
              <p className="quiet small">{[title && name, description, readOnly && say('connectors.read-only')].filter(Boolean).join(' · ')}</p>
            </div>
            <Risk risk={risk} />
            {mayWrite ? (
              <Select
                label={say('connectors.permission-of', { name: title ?? name })}
                isLabelHidden
                choices={permissions.map(each => ({ id: each, name: say(`permission.${each}`) }))}
                value={permission}
                onChange={each => permit(name, each)}
              />
            ) : (
              <span className="quiet">{say(`permission.${permission}`)}</span>
            )}
          </li>
        ))}
        {(tools ?? []).length === 0 && <li className="quiet">{say('connectors.no-tool')}</li>}
      </ul>
    </>
  )
}
