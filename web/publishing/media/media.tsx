import { Image, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useClient, useSubscription } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { goTo, Link, useSearch, withSearch } from '../../shell/address.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { useBrand } from '../brand/brand.ts'
import { AssetPanel } from './asset.tsx'
import { Folders } from './folders.tsx'
import { ImportButton } from './import.tsx'
import { type MediaCardFragment, MediaChangesDocument, MediaLibraryDocument, type MediaLibraryQueryVariables } from './media.generated.ts'
import { Preview } from './preview.tsx'
import { Transfers, UploadButton } from './transfers.tsx'

const pageSize = 24

/** The library of a brand: folders, search and tags in the address, an asset beside the grid. What is shown stays, however long the next page takes. */
export default function Media() {
  const { brand, isKnown } = useBrand()
  const search = useSearch()
  const mayWrite = useRights().may('publishing:posts.write')
  const [text, tag, folderId, asset] = ['search', 'tag', 'folder', 'asset'].map(name => search.get(name))
  const variables = {
    brandId: brand?.id ?? '',
    first: pageSize,
    ...(text && { search: text }),
    ...(tag && { tag }),
    ...(folderId && { folderId }),
  }
  const { data, state, problem, retry } = useRead(MediaLibraryDocument, variables, {
    pause: !brand,
    isEmpty: ({ mediaAssets }) => mediaAssets?.totalCount === 0,
  })
  const waiting = useRef<ReturnType<typeof setTimeout> | null>(null)
  useSubscription({ query: MediaChangesDocument, variables: { brandId: brand?.id ?? '' }, pause: !brand }, (_, told) => {
    // A film that is ready, or what a colleague has sent: read once for a burst.
    if (told.brandActivity?.kind === 'MEDIA')
      waiting.current ??= setTimeout(() => {
        waiting.current = null
        retry()
      }, 500)
    return told
  })
  useEffect(() => () => void (waiting.current && clearTimeout(waiting.current)), [])
  const destination = { brandId: brand?.id ?? '', folderId: folderId ?? null }
  return (
    <Page
      title={say('media.title')}
      actions={
        brand &&
        mayWrite && (
          <div className="actions">
            <ImportButton destination={destination} onDone={retry} />
            <UploadButton destination={destination} onSent={retry} />
          </div>
        )
      }
    >
      <div className={asset ? 'beside open' : 'beside'}>
        <div className="stack">
          <search className="filters">
            <input
              className="input search"
              type="search"
              aria-label={say('media.search')}
              placeholder={say('media.search')}
              value={text ?? ''}
              onChange={event => goTo(withSearch('/media', search, { search: event.target.value }), { replace: true })}
            />
            {tag && (
              <Button kind="quiet" chosen icon={X} onPress={() => goTo(withSearch('/media', search, { tag: null }))}>
                {say('media.tag', { tag })}
              </Button>
            )}
          </search>
          {brand && <Folders brandId={brand.id} folderId={folderId ?? null} mayWrite={mayWrite} />}
          <Transfers />
          <Region
            state={isKnown && !brand ? 'empty' : state}
            problem={problem}
            retry={retry}
            lines={6}
            empty={{
              icon: Image,
              sentence: say(!brand ? 'brand.none' : text || tag ? 'media.empty-search' : folderId ? 'media.empty-folder' : 'media.empty'),
              action: brand && mayWrite && <UploadButton destination={destination} onSent={retry} />,
            }}
          >
            {data?.mediaAssets && <Grid key={JSON.stringify(variables)} first={data.mediaAssets} variables={variables} search={search} />}
          </Region>
        </div>
        {asset && (
          <AssetPanel
            key={asset}
            id={asset}
            brandId={brand?.id ?? ''}
            back={withSearch('/media', search, { asset: null })}
            mayWrite={mayWrite}
            reload={retry}
          />
        )}
      </div>
    </Page>
  )
}

interface Assets {
  readonly nodes: readonly (MediaCardFragment | null)[] | null
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
  readonly totalCount: number
}

function Grid({ first, variables, search }: { readonly first: Assets; readonly variables: MediaLibraryQueryVariables; readonly search: URLSearchParams }) {
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
  // An asset that came at the front pushes others onto the pages that were read before: each is drawn once.
  const assets = new Map([first, ...further].flatMap(({ nodes }) => (nodes ?? []).flatMap(each => (each ? [[each.id, each] as const] : []))))
  return (
    <>
      <ul className="assets">
        {[...assets.values()].map(asset => (
          <Card key={asset.id} asset={asset} search={search} />
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
function Card({ asset, search }: { readonly asset: MediaCardFragment; readonly search: URLSearchParams }) {
  const { id, kind, title, filename, altText, previewUrl, previewBroken, usage, status } = asset
  const name = title || filename
  return (
    <li className="asset" data-asset={id} aria-current={search.get('asset') === id ? 'true' : undefined}>
      <Preview url={previewBroken ? null : previewUrl} alt={altText ?? ''} kind={kind} />
      <Link className="clip" title={name} to={withSearch('/media', search, { asset: id })}>
        {name}
      </Link>
      <p className="quiet small">
        {say(`media.${kind}`)} · {status === 'READY' ? say('media.usage', { count: usage }) : say(`media.${status}`)}
      </p>
    </li>
  )
}
