import { Newspaper, PenLine } from 'lucide-react'
import { useState } from 'react'
import { useSubscription } from 'urql'
import { Icon } from '../../design/parts/icon.tsx'
import type { Column } from '../../design/parts/table.tsx'
import { Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { say } from '../../shell/words.ts'
import { type Brand, useBrand } from '../brand/brand.ts'
import { networks } from '../brand/networks.ts'
import { BulkBar } from '../bulk/bulk.tsx'
import { ExportButton } from '../bulk/export.tsx'
import { ImportButton } from '../bulk/import.tsx'
import { filtersIn, PostFilters } from './filters.tsx'
import { PostPanel } from './panel.tsx'
import { type PostRowFragment, PostStatusOfBrandDocument, PostsDocument } from './posts.generated.ts'
import { PostStatus, PostTime } from './status.tsx'

/** Posts as the filters of the address say; the one that the path names is open beside them. */
export default function Posts() {
  const { brand } = useBrand()
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/posts\/([^/]+)$/.exec(path)?.[1]
  const filters = filtersIn(search)
  const variables = { ...filters, ...pageOf(search), ...(search.get('brand') && { brandId: search.get('brand')! }) }
  const { data, state, problem, retry } = useRead(PostsDocument, variables, { isEmpty: ({ posts }) => posts?.nodes?.length === 0 })
  useSubscription({ query: PostStatusOfBrandDocument, variables: { brandId: brand?.id ?? '' }, pause: !brand })
  const rows = (data?.posts?.nodes ?? []).filter(each => each !== null)
  const mayWrite = useRights().may('publishing:posts.write')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const isFiltered = Object.keys(filters).length > 0
  return (
    <Page
      title={say('posts.title')}
      actions={
        <div className="actions">
          <ExportButton filters={variables} />
          {mayWrite && brand && <ImportButton brand={brand} onDone={retry} />}
          {mayWrite && (
            <Link className="button primary" to="/compose">
              <Icon of={PenLine} />
              {say('posts.compose')}
            </Link>
          )}
        </div>
      }
    >
      <div className={id ? 'beside open' : 'beside'}>
        <div className="stack">
          <PostFilters search={search} />
          {chosen.size > 0 && (
            <BulkBar posts={rows.filter(({ id: each }) => chosen.has(each))} zone={brand?.timeZone} onClear={() => setChosen(new Set())} onDone={retry} />
          )}
          <Listing
            label={say('posts.title')}
            path="/posts"
            columns={columnsFor(brand, search)}
            rows={rows}
            current={id}
            page={data?.posts?.pageInfo}
            total={data?.posts?.totalCount}
            countOf={count => say('posts.count', { count })}
            attributes={post => ({ 'data-post': post.id })}
            selection={
              mayWrite
                ? {
                    chosen,
                    onChange: setChosen,
                    all: say('posts.choose-all'),
                    nameOf: ({ title, copy }) => say('posts.choose-named', { title: title || copy || say('posts.without-text') }),
                  }
                : undefined
            }
            state={state}
            problem={problem}
            retry={retry}
            empty={{
              icon: Newspaper,
              sentence: say(isFiltered ? 'posts.empty-filtered' : 'posts.empty'),
              action: (
                <Link className="button secondary" to={isFiltered ? '/posts' : '/compose'}>
                  {say(isFiltered ? 'posts.show-all' : 'posts.compose')}
                </Link>
              ),
            }}
          />
        </div>
        {id && <PostPanel key={id} id={id} brand={brand} back={withSearch('/posts', search, {})} />}
      </div>
    </Page>
  )
}

const columnsFor = (brand: Brand | null, search: URLSearchParams): readonly Column<PostRowFragment>[] => [
  {
    id: 'copy',
    heading: say('posts.text'),
    isMain: true,
    cell: ({ id, title, copy }) => (
      <Link dir="auto" to={withSearch(`/posts/${id}`, search, {})}>
        {title || copy || say('posts.without-text')}
      </Link>
    ),
  },
  { id: 'network', heading: say('posts.network'), cell: ({ platform }) => networks[platform] },
  { id: 'status', isKept: true, heading: say('posts.status'), cell: post => <PostStatus post={post} /> },
  { id: 'time', heading: say('posts.time'), cell: post => <PostTime post={post} zone={brand?.timeZone} /> },
]
