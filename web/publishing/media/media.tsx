import { Clapperboard, Image, ImageOff } from 'lucide-react'
import { useState } from 'react'
import { useClient } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { goTo, useSearch, withSearch } from '../../shell/address.tsx'
import { Page } from '../../shell/page.tsx'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { useBrand } from '../brand/brand.ts'
import { type MediaCardFragment, MediaLibraryDocument } from './media.generated.ts'

const pageSize = 24

/** The library of a brand. What is shown stays, however long the next page takes. */
export default function Media() {
  const { brand, isKnown } = useBrand()
  const search = useSearch()
  const text = search.get('search') ?? ''
  const variables = { brandId: brand?.id ?? '', first: pageSize, ...(text && { search: text }) }
  const { data, state, problem, retry } = useRead(MediaLibraryDocument, variables, {
    pause: !brand,
    isEmpty: ({ mediaAssets }) => mediaAssets?.totalCount === 0,
  })
  return (
    <Page title={say('media.title')}>
      <search className="filters">
        <input
          className="input search"
          type="search"
          aria-label={say('media.search')}
          placeholder={say('media.search')}
          value={text}
          onChange={event => goTo(withSearch('/media', search, { search: event.target.value }), { replace: true })}
        />
      </search>
      <Region
        state={isKnown && !brand ? 'empty' : state}
        problem={problem}
        retry={retry}
        lines={6}
        empty={{ icon: Image, sentence: say(!brand ? 'brand.none' : text ? 'media.empty-search' : 'media.empty') }}
      >
        {data?.mediaAssets && <Grid key={`${brand?.id} ${text}`} first={data.mediaAssets} variables={variables} />}
      </Region>
    </Page>
  )
}

interface Assets {
  readonly nodes: readonly (MediaCardFragment | null)[] | null
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
  readonly totalCount: number
}

function Grid({ first, variables }: { readonly first: Assets; readonly variables: { readonly brandId: string; readonly first: number } }) {
  const client = useClient()
  const [further, setFurther] = useState<readonly Assets[]>([])
  const [isBusy, setBusy] = useState(false)
  const last = further.at(-1) ?? first
  async function more() {
    setBusy(true)
    const { data } = await client.query(MediaLibraryDocument, { ...variables, after: last.pageInfo.endCursor }).toPromise()
    setBusy(false)
    if (data?.mediaAssets) setFurther(before => [...before, data.mediaAssets!])
  }
  const assets = [first, ...further].flatMap(({ nodes }) => (nodes ?? []).filter(each => each !== null))
  return (
    <>
      <ul className="assets">
        {assets.map(asset => (
          <Card key={asset.id} asset={asset} />
        ))}
      </ul>
      <div className="actions">
        <span className="quiet small">{say('media.count', { count: first.totalCount })}</span>
        {last.pageInfo.hasNextPage && (
          <Button isDisabled={isBusy} onPress={() => void more()}>
            {say('action.more')}
          </Button>
        )}
      </div>
    </>
  )
}

/** One picture or film; a preview that does not load hides itself, and the card stays. */
function Card({ asset: { id, kind, title, filename, altText, previewUrl, previewBroken, usage } }: { readonly asset: MediaCardFragment }) {
  const [isBroken, setBroken] = useState(previewBroken)
  const name = title || filename
  return (
    <li className="asset" data-asset={id}>
      {previewUrl && !isBroken ? (
        <img src={previewUrl} alt={altText ?? ''} loading="lazy" decoding="async" onError={() => setBroken(true)} />
      ) : (
        <span className="missing">
          <Icon of={kind === 'VIDEO' ? Clapperboard : ImageOff} large />
        </span>
      )}
      <p className="clip" title={name}>
        {name}
      </p>
      <p className="quiet small">
        {say(`media.${kind}`)} · {say('media.usage', { count: usage })}
      </p>
    </li>
  )
}
