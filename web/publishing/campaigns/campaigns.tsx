import { Megaphone, Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import type { Column } from '../../design/parts/table.tsx'
import { goTo, Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { afterOf, Listing } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { say } from '../../shell/words.ts'
import { useBrand } from '../brand/brand.ts'
import { type CampaignRowFragment, CampaignsDocument } from './campaigns.generated.ts'
import { CampaignForm } from './form.tsx'
import { CampaignPanel } from './panel.tsx'
import { spanOf } from './span.ts'

/** Campaigns of the brand, in use or archived; one beside the list with its posts. */
export default function Campaigns() {
  const { brand, isKnown } = useBrand()
  const [path, search] = [usePath(), useSearch()]
  const mayWrite = useRights().may('publishing:posts.write')
  const id = /^\/campaigns\/([^/]+)$/.exec(path)?.[1]
  const isArchived = search.get('archived') === 'true'
  const [isNew, setNew] = useState(false)
  const { data, state, problem, retry } = useRead(
    CampaignsDocument,
    { brandId: brand?.id ?? '', ...(isArchived && { archived: true }), ...afterOf(search) },
    { pause: !brand, isEmpty: ({ campaigns }) => campaigns?.nodes?.length === 0 },
  )
  const rows = (data?.campaigns?.nodes ?? []).flatMap(each => each ?? [])
  const create = mayWrite && brand && (
    <Button kind="primary" icon={Plus} onPress={() => setNew(true)}>
      {say('campaigns.create')}
    </Button>
  )
  return (
    <Page title={say('campaigns.title')} actions={create}>
      <div className={id ? 'beside open' : 'beside'}>
        <div className="stack">
          <nav className="filters" aria-label={say('campaigns.title')}>
            {[false, true].map(each => (
              <Link
                key={String(each)}
                className={each === isArchived ? 'button chosen' : 'button'}
                aria-current={each === isArchived ? 'page' : undefined}
                to={withSearch('/campaigns', search, { archived: each ? 'true' : null, after: null })}
              >
                {say(each ? 'campaigns.archived' : 'campaigns.used')}
              </Link>
            ))}
          </nav>
          <Listing
            label={say('campaigns.title')}
            path="/campaigns"
            columns={columnsFor(search)}
            rows={rows}
            current={id}
            page={data?.campaigns?.pageInfo}
            total={data?.campaigns?.totalCount}
            attributes={each => ({ 'data-campaign': each.id })}
            state={isKnown && !brand ? 'empty' : state}
            problem={problem}
            retry={retry}
            empty={{
              icon: Megaphone,
              sentence: say(!brand ? 'brand.none' : isArchived ? 'campaigns.empty-archived' : 'campaigns.empty'),
              action: !isArchived && create,
            }}
          />
        </div>
        {id && <CampaignPanel key={id} id={id} zone={brand?.timeZone} back={withSearch('/campaigns', search, {})} mayWrite={mayWrite} reload={retry} />}
      </div>
      {isNew && brand && (
        <CampaignForm
          brandId={brand.id}
          campaign={null}
          onClose={() => setNew(false)}
          onDone={made => {
            setNew(false)
            retry()
            goTo(`/campaigns/${made}`)
          }}
        />
      )}
    </Page>
  )
}

const columnsFor = (search: URLSearchParams): readonly Column<CampaignRowFragment>[] => [
  {
    id: 'name',
    heading: say('campaigns.name'),
    isMain: true,
    cell: ({ id, name }) => (
      <Link dir="auto" to={withSearch(`/campaigns/${id}`, search, {})}>
        {name}
      </Link>
    ),
  },
  { id: 'dates', heading: say('campaigns.dates'), cell: campaign => <span className="quiet">{spanOf(campaign)}</span> },
  {
    id: 'posts',
    heading: say('campaigns.posts'),
    cell: ({ counts }) => say('campaigns.counts', { published: counts.published, all: counts.draft + counts.scheduled + counts.published + counts.failed }),
  },
]
