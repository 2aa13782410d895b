import { ChartColumn } from 'lucide-react'
import { Statistic, Statistics } from '../../design/parts/statistic.tsx'
import { type Column, Table } from '../../design/parts/table.tsx'
import { Link, useSearch, withSearch } from '../../shell/address.tsx'
import { Page } from '../../shell/page.tsx'
import { addDays } from '../../shell/parts/day.ts'
import { locale } from '../../shell/place.ts'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { dayOf, momentAtWall } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { useBrand } from '../brand/brand.ts'
import { networks } from '../brand/networks.ts'
import { AnalyticsDocument, type SumsFragment } from './analytics.generated.ts'

/** Ranges that the address may name, in days. */
const ranges = [7, 30, 90] as const
const number = new Intl.NumberFormat(locale)
const figures = ['impressions', 'likes', 'comments', 'shares', 'clicks'] as const

/** A figure; a dash where a network does not tell it. */
const shown = (value: number | null | undefined): string => (value === null || value === undefined ? '–' : number.format(value))

/** What networks counted of a brand's posts in the last days, as its calendar counts them. */
export default function Analytics() {
  const { brand, isKnown } = useBrand()
  const search = useSearch()
  const days = ranges.find(each => String(each) === search.get('days')) ?? 30
  const zone = brand?.timeZone ?? 'UTC'
  const tomorrow = addDays(dayOf(new Date(), zone), 1)
  const midnight = (day: string) => (momentAtWall(`${day}T00:00`, zone) ?? new Date(`${day}T00:00:00Z`)).toISOString()
  const variables = { brandId: brand?.id ?? '', from: midnight(addDays(tomorrow, -days)), to: midnight(tomorrow) }
  const { data, state, problem, retry } = useRead(AnalyticsDocument, variables, {
    pause: !brand,
    isEmpty: ({ brandAnalytics }) => brandAnalytics?.totals.posts === 0,
  })
  const all = data?.brandAnalytics
  const region = { state: isKnown && !brand ? ('empty' as const) : state, problem, retry }
  return (
    <Page
      title={say('analytics.title')}
      actions={
        <nav className="tabs" aria-label={say('analytics.range')}>
          {ranges.map(each => (
            <Link key={each} to={withSearch('/analytics', search, { days: String(each) })} aria-current={each === days ? 'page' : undefined}>
              {say('analytics.days', { count: each })}
            </Link>
          ))}
        </nav>
      }
    >
      <Region {...region} lines={2} empty={{ icon: ChartColumn, sentence: say(brand ? 'analytics.empty' : 'brand.none') }}>
        {all && (
          <Statistics>
            <Statistic label={say('analytics.posts')} value={shown(all.totals.posts)} />
            {figures.map(each => (
              <Statistic key={each} label={say(`analytics.${each}`)} value={shown(all.totals[each])} />
            ))}
          </Statistics>
        )}
      </Region>
      {all && all.totals.posts > 0 && (
        <>
          <Region title={say('analytics.networks')} isFlush state={state} problem={problem} retry={retry}>
            <Table
              label={say('analytics.networks')}
              columns={[{ id: 'name', heading: say('posts.network'), cell: ({ name }) => name }, ...columns()]}
              rows={all.byPlatform.map(({ platform, sums }) => ({ id: platform, sums, name: networks[platform] }))}
            />
          </Region>
          {all.topPosts.length > 0 && (
            <Region title={say('analytics.best')} isFlush state={state} problem={problem} retry={retry}>
              <Table
                label={say('analytics.best')}
                columns={[
                  {
                    id: 'post',
                    heading: say('posts.text'),
                    isMain: true,
                    cell: ({ id, name }) => <Link to={`/posts/${id}`}>{name}</Link>,
                  },
                  ...columns(),
                ]}
                rows={all.topPosts.map(({ postId, figures: sums, post }) => ({
                  id: postId,
                  sums,
                  name: post?.title || post?.copy || say('posts.without-text'),
                }))}
              />
            </Region>
          )}
        </>
      )}
    </Page>
  )
}

/** A row of either table. */
interface Row {
  readonly id: string
  readonly sums: SumsFragment
  readonly name: string
}

const columns = (): readonly Column<Row>[] =>
  figures.map(each => ({ id: each, heading: say(`analytics.${each}`), isFigure: true, cell: ({ sums }) => shown(sums[each]) }))
