import { CircleAlert, CircleCheck, Clock, ExternalLink, Plug } from 'lucide-react'
import { useState } from 'react'
import { useMutation, useSubscription } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Note, Status } from '../../design/parts/status.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Page } from '../../shell/page.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { type Brand, useBrand } from '../brand/brand.ts'
import { networks, platforms } from '../brand/networks.ts'
import { AccountLine } from './account.tsx'
import {
  AccountHealthDocument,
  type AccountPlacesFragment,
  ConnectNetworkDocument,
  type IntegrationCardFragment,
  IntegrationsDocument,
  PlacesDocument,
} from './integrations.generated.ts'

/** A card a network: whether it can be connected, what is, and how that does. */
export default function Integrations() {
  const { brand, isKnown } = useBrand()
  const { data, state, problem, retry } = useRead(IntegrationsDocument, brand ? { brandId: brand.id } : {}, { pause: !isKnown })
  const places = useRead(PlacesDocument, { brandId: brand?.id ?? '' }, { pause: !brand })
  useSubscription({ query: AccountHealthDocument })
  const targetsOf = new Map(places.data?.connections?.nodes?.flatMap(each => (each ? [[each.id, each.targets] as const] : [])))
  const cards = (data?.integrations ?? []).filter(each => each !== null)
  return (
    <Page title={say('integrations.title')}>
      {cards.length === 0 && state !== 'loading' ? (
        <Region state={state} problem={problem} retry={retry} empty={{ icon: Plug, sentence: say('brand.none') }} />
      ) : (
        <div className="cards">
          {cards.length === 0
            ? platforms.map(platform => <Region key={platform} title={networks[platform]} state="loading" lines={3} />)
            : cards.map(card => <NetworkCard key={card.platform} card={card} brand={brand} targetsOf={targetsOf} />)}
        </div>
      )}
    </Page>
  )
}

function NetworkCard({
  card: { platform, title, readiness, connectable, reason, attention, connections },
  brand,
  targetsOf,
}: {
  readonly card: IntegrationCardFragment
  readonly brand: Brand | null
  readonly targetsOf: ReadonlyMap<string, AccountPlacesFragment['targets']>
}) {
  const [{ error, fetching }, connect] = useMutation(ConnectNetworkDocument)
  const [address, setAddress] = useState<string | null>(null)
  const problem = problemOf(error)
  const accounts = (connections ?? []).filter(each => each !== null)
  async function begin() {
    const { data } = await connect({ input: { brandId: brand!.id, platform } })
    const url = data?.connectIntegration?.authorizationUrl
    if (url && !window.open(url, '_blank')) setAddress(url)
  }
  const action = say(accounts.length === 0 ? 'integrations.connect' : 'integrations.connect-another')
  const isReady = readiness === 'PRODUCTION_READY' || readiness === 'SANDBOX_ONLY'
  return (
    <Region
      data-platform={platform}
      title={title}
      tools={
        <Status meaning={isReady ? 'positive' : 'plain'} icon={isReady ? CircleCheck : Clock}>
          {say(`integrations.${readiness}`)}
        </Status>
      }
      state="ready"
    >
      {attention && (
        <Note meaning="warning" icon={CircleAlert}>
          {attention}
        </Note>
      )}
      {accounts.length === 0 ? (
        <p className="quiet">{connectable ? say('integrations.none', { network: title }) : (reason ?? say('integrations.not'))}</p>
      ) : (
        <ul className="items">
          {accounts.map(account => (
            <AccountLine key={account.id} account={account} targets={targetsOf.get(account.id) ?? []} />
          ))}
        </ul>
      )}
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {connectable && brand && (
        <div className="actions">
          <Button icon={Plug} isDisabled={fetching} onPress={() => void begin()} aria-label={say('action.of', { action, name: title })}>
            {action}
          </Button>
          {address && (
            <a href={address} target="_blank" rel="noopener noreferrer">
              {say('integrations.go-on', { network: title })} <Icon of={ExternalLink} />
            </a>
          )}
        </div>
      )}
    </Region>
  )
}
