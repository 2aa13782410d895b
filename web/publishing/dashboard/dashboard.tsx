import { CalendarPlus, CircleAlert, CircleCheck, Plug } from 'lucide-react'
import { Icon } from '../../design/parts/icon.tsx'
import { Statistic, Statistics } from '../../design/parts/statistic.tsx'
import { Note } from '../../design/parts/status.tsx'
import { Link } from '../../shell/address.tsx'
import { Page } from '../../shell/page.tsx'
import { locale } from '../../shell/place.ts'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { useBrand } from '../brand/brand.ts'
import { networks } from '../brand/networks.ts'
import { PublishingOverviewDocument } from './dashboard.generated.ts'

const number = new Intl.NumberFormat(locale)

/** What needs somebody first, then what comes next. */
export default function Overview() {
  const { brand, isKnown } = useBrand()
  const { data, state, problem, retry } = useRead(PublishingOverviewDocument, brand ? { brandId: brand.id } : {}, { pause: !isKnown })
  const facts = data?.publishingDashboard
  const next = (facts?.next ?? []).filter(each => each !== null)
  return (
    <Page
      title={say('overview.title')}
      actions={
        <Link className="button primary" to="/compose">
          {say('posts.compose')}
        </Link>
      }
    >
      <Region title={say('overview.today')} state={state} problem={problem} retry={retry} lines={2}>
        {facts && (
          <>
            <Statistics>
              <Statistic label={say('overview.scheduled-today')} value={number.format(facts.scheduledToday)} />
              <Statistic label={say('overview.published-week')} value={number.format(facts.publishedThisWeek)} />
              <Statistic label={say('overview.awaiting')} value={number.format(facts.awaitingApproval)} />
              <Statistic label={say('post.FAILED')} value={number.format(facts.failed)} />
              <Statistic label={say('post.UNKNOWN')} value={number.format(facts.unknown)} />
            </Statistics>
            {facts.failed + facts.unknown > 0 ? (
              <Note meaning="danger" icon={CircleAlert}>
                <Link to="/posts?status=failed">{say('overview.failed', { count: facts.failed + facts.unknown })}</Link>
              </Note>
            ) : (
              <Note meaning="positive" icon={CircleCheck}>
                {say('overview.fine')}
              </Note>
            )}
            {(facts.attention ?? []).map(
              each =>
                each && (
                  <Note key={each.id} meaning="warning" icon={Plug}>
                    <Link to="/integrations">{say('overview.attention', { account: each.accountName, network: networks[each.platform] })}</Link>
                  </Note>
                ),
            )}
          </>
        )}
      </Region>
      <Region
        title={say('overview.next')}
        state={state === 'ready' && next.length === 0 ? 'empty' : state}
        problem={problem}
        retry={retry}
        lines={4}
        empty={{
          icon: CalendarPlus,
          sentence: say('overview.next-empty'),
          action: (
            <Link className="button secondary" to="/compose">
              {say('posts.compose')}
            </Link>
          ),
        }}
      >
        <ul className="list">
          {next.map(({ id, title, copy, platform, scheduledAt }) => (
            <li key={id} data-post={id}>
              <Icon of={CalendarPlus} />
              <Link className="grow clip" to={`/posts/${id}`}>
                {title || copy || say('posts.without-text')}
              </Link>
              <span className="quiet">{networks[platform]}</span>
              {scheduledAt && (
                <time className="quiet figures" dateTime={scheduledAt}>
                  {moment(scheduledAt, brand?.timeZone)}
                </time>
              )}
            </li>
          ))}
        </ul>
      </Region>
    </Page>
  )
}
