import { Ban, CircleCheck, KeyRound } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { Facts } from '../../design/parts/facts.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Status } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { Confirm } from '../../shell/parts/ask.tsx'
import { Panel } from '../../shell/parts/panel.tsx'
import { Secret } from '../../shell/parts/secret.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure } from '../../shell/region.tsx'
import { lately, moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { ClientDetailDocument, type ClientDetailsFragment, IssueTokenDocument, RevokeTokenDocument, UpdateClientDocument } from './clients.generated.ts'

/** Whether a client may call. */
export const ClientState = ({ isActive }: { readonly isActive: boolean }) => (
  <Status meaning={isActive ? 'positive' : 'plain'} icon={isActive ? CircleCheck : Ban}>
    {say(isActive ? 'clients.active' : 'clients.inactive')}
  </Status>
)

/** One client beside its list: what it may call, and its tokens. */
export function ClientPanel({ id, back }: { readonly id: string; readonly back: string }) {
  const { data, state, problem, retry } = useRead(ClientDetailDocument, { id })
  const client = data?.serviceClient
  return (
    <Panel label={say('clients.one')} heading={client?.name} back={back} state={data && !client ? 'error' : state} problem={problem} retry={retry}>
      {client && <Details client={client} />}
    </Panel>
  )
}

function Details({ client }: { readonly client: ClientDetailsFragment }) {
  const once = useOnce()
  const [updated, update] = useMutation(UpdateClientDocument)
  const [issued, issue] = useMutation(IssueTokenDocument)
  const [secret, setSecret] = useState<string | null>(null)
  const [count, setCount] = useState(0)
  const problem = problemOf(updated.error ?? issued.error)
  async function mint() {
    const { data } = await issue({ input: { serviceClientId: client.id, idempotencyKey: `${once}-${count}` } })
    if (!data?.issueServiceToken) return
    setCount(count + 1)
    setSecret(data.issueServiceToken.secret ?? null)
  }
  const tokens = (client.tokens ?? []).filter(each => each !== null)
  return (
    <>
      <div>
        <ClientState isActive={client.active} />
      </div>
      <div className="actions">
        <Button icon={KeyRound} isDisabled={issued.fetching} onPress={() => void mint()}>
          {say('clients.issue')}
        </Button>
        <Button
          isDisabled={updated.fetching}
          onPress={() => void update({ input: { id: client.id, active: !client.active, expectedVersion: client.version } })}
        >
          {say(client.active ? 'clients.deactivate' : 'clients.activate')}
        </Button>
      </div>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      <Facts
        of={[
          [say('clients.app'), <code key="app">{client.appId}</code>],
          [say('clients.operations'), client.operations.map(each => say(`operation.${each}`)).join(', ')],
          [say('clients.last-used'), client.lastUsedAt && lately(client.lastUsedAt)],
          [say('clients.created'), moment(client.createdAt)],
        ]}
      />
      <h3>{say('clients.tokens')}</h3>
      <ul className="list">
        {tokens.map(token => (
          <Token key={token.id} client={client} token={token} />
        ))}
        {tokens.length === 0 && <li className="quiet">{say('clients.no-token')}</li>}
      </ul>
      {secret && (
        <Dialog title={say('clients.secret-title')} isAlert onClose={() => setSecret(null)}>
          <Secret value={secret} label={say('clients.secret-title')} once={say('clients.secret-once')} onKept={() => setSecret(null)} />
        </Dialog>
      )}
    </>
  )
}

type TokenLine = NonNullable<NonNullable<ClientDetailsFragment['tokens']>[number]>

function Token({ client, token }: { readonly client: ClientDetailsFragment; readonly token: TokenLine }) {
  const [{ error, fetching }, revoke] = useMutation(RevokeTokenDocument)
  const [asks, setAsks] = useState(false)
  async function end() {
    const { data } = await revoke({ input: { id: client.id, tokenId: token.id } })
    if (!data?.revokeServiceToken) return
    toast({ sentence: say('clients.revoked') })
    setAsks(false)
  }
  return (
    <li>
      <Icon of={KeyRound} />
      <div className="grow">
        <p>
          <code>{token.prefix}…</code>
        </p>
        <p className="quiet small">{token.lastUsedAt ? say('clients.used', { when: lately(token.lastUsedAt) }) : say('clients.never')}</p>
      </div>
      {token.revokedAt ? (
        <Status meaning="plain" icon={Ban}>
          {say('clients.token-revoked')}
        </Status>
      ) : (
        <Button kind="quiet" onPress={() => setAsks(true)} aria-label={say('action.of', { action: say('clients.revoke'), name: token.prefix })}>
          {say('clients.revoke')}
        </Button>
      )}
      {asks && (
        <Confirm
          title={say('clients.revoke-title', { prefix: token.prefix })}
          sentence={say('clients.revoke-sentence', { name: client.name })}
          verb={say('clients.revoke')}
          isBusy={fetching}
          problem={problemOf(error)}
          onConfirm={() => void end()}
          onClose={() => setAsks(false)}
        />
      )}
    </li>
  )
}
