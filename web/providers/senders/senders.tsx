import { Mail, Plus } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Status } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Guard } from '../../shell/frame/guard.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { lately } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { Domain } from './domain.tsx'
import { AddDomain, AddIdentity } from './new.tsx'
import { AllowAddressDocument, DeleteIdentityDocument, type IdentityLineFragment, SendersDocument } from './senders.generated.ts'

/** Domains and addresses from which mail goes out, and addresses to which none goes. */
export default function Senders() {
  const { may } = useRights()
  const [asks, setAsks] = useState(false)
  return (
    <Page
      title={say('senders.title')}
      actions={
        may('providers:org.admin') && (
          <Button kind="primary" icon={Plus} onPress={() => setAsks(true)}>
            {say('senders.add-domain')}
          </Button>
        )
      }
    >
      <Guard need="providers:org.admin">
        <Everything add={() => setAsks(true)} asks={asks} onClose={() => setAsks(false)} />
      </Guard>
    </Page>
  )
}

function Everything({ add, asks, onClose }: { add(): void; readonly asks: boolean; onClose(): void }) {
  const { data, state, problem, retry } = useRead(SendersDocument, {})
  const [names, setNames] = useState(false)
  const domains = (data?.senderDomains ?? []).filter(each => each !== null)
  const identities = (data?.senderIdentities ?? []).filter(each => each !== null)
  const suppressed = (data?.emailSuppressions?.nodes ?? []).filter(each => each !== null)
  const verified = domains.filter(({ status, level }) => status === 'VERIFIED' && level === 'ORGANIZATION')
  const region = { state, problem, retry }
  return (
    <>
      {domains.map(domain => (
        <Domain key={domain.id} domain={domain} reload={retry} />
      ))}
      {domains.length === 0 && (
        <Region
          {...region}
          state={state === 'ready' ? 'empty' : state}
          empty={{ icon: Mail, sentence: say('senders.empty'), action: <Button onPress={add}>{say('senders.add-domain')}</Button> }}
        />
      )}
      <Region
        {...region}
        isFlush
        title={say('senders.identities')}
        tools={
          verified.length > 0 && (
            <Button icon={Plus} onPress={() => setNames(true)}>
              {say('senders.add-identity')}
            </Button>
          )
        }
      >
        <ul className="list">
          {identities.map(identity => (
            <Identity key={identity.id} identity={identity} reload={retry} />
          ))}
          {identities.length === 0 && <li className="quiet">{say(verified.length > 0 ? 'senders.no-identity' : 'senders.verify-first')}</li>}
        </ul>
      </Region>
      {suppressed.length > 0 && (
        <Region {...region} isFlush title={say('senders.suppressed')}>
          <ul className="list">
            {suppressed.map(each => (
              <Suppressed key={each.id} entry={each} reload={retry} />
            ))}
          </ul>
        </Region>
      )}
      {asks && <AddDomain reload={retry} onClose={onClose} />}
      {names && <AddIdentity domains={verified} reload={retry} onClose={() => setNames(false)} />}
    </>
  )
}

function Identity({ identity, reload }: { readonly identity: IdentityLineFragment; reload(): void }) {
  const [{ error, fetching }, remove] = useMutation(DeleteIdentityDocument)
  const problem = problemOf(error)
  async function destroy() {
    const { data } = await remove({ input: { id: identity.id, expectedVersion: identity.version } })
    if (!data?.deleteSenderIdentity) return
    toast({ sentence: say('senders.identity-deleted', { address: identity.address }) })
    reload()
  }
  return (
    <li>
      <Icon of={Mail} large />
      <div className="grow">
        <p className="clip">{identity.displayName ? `${identity.displayName} <${identity.address}>` : identity.address}</p>
        {identity.replyTo && <p className="quiet small">{say('senders.replies', { address: identity.replyTo })}</p>}
        {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      </div>
      {identity.isDefault && (
        <Status meaning="info" icon={Mail}>
          {say('senders.default')}
        </Status>
      )}
      {identity.level === 'ORGANIZATION' && (
        <Button
          kind="quiet"
          isDisabled={fetching}
          onPress={() => void destroy()}
          aria-label={say('action.of', { action: say('senders.delete-identity'), name: identity.address })}
        >
          {say('senders.delete-identity')}
        </Button>
      )}
    </li>
  )
}

function Suppressed({
  entry: { id, address, reason, createdAt },
  reload,
}: {
  readonly entry: { readonly id: string; readonly address: string; readonly reason: string; readonly createdAt: string }
  reload(): void
}) {
  const [{ error, fetching }, allow] = useMutation(AllowAddressDocument)
  const problem = problemOf(error)
  async function permit() {
    const { data } = await allow({ input: { id } })
    if (!data?.removeEmailSuppression) return
    toast({ sentence: say('senders.allowed', { address }) })
    reload()
  }
  return (
    <li>
      <div className="grow">
        <p className="clip">{address}</p>
        <p className="quiet small">{`${reason} · ${lately(createdAt)}`}</p>
        {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      </div>
      <Button kind="quiet" isDisabled={fetching} onPress={() => void permit()} aria-label={say('action.of', { action: say('senders.allow'), name: address })}>
        {say('senders.allow')}
      </Button>
    </li>
  )
}
