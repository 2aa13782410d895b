import { ExternalLink, PenLine, RefreshCw, TrendingUp, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Status } from '../../design/parts/status.tsx'
import { Link } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { lately, moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { useBrand } from '../brand/brand.ts'
import { RefreshTrendsDocument, type TrendListFragment, TrendsDocument } from './trends.generated.ts'

/** What people talk about in the brand's field; each of them begins a post. */
export default function Trends() {
  const { brand, isKnown } = useBrand()
  const mayWrite = useRights().may('publishing:posts.write')
  const { data, state, problem, retry } = useRead(
    TrendsDocument,
    { brandId: brand?.id ?? '' },
    { pause: !brand, isEmpty: ({ trends }) => trends?.trends.length === 0 },
  )
  const [{ error, fetching }, refresh] = useMutation(RefreshTrendsDocument)
  const [fresh, setFresh] = useState<TrendListFragment | null>(null)
  const refused = problemOf(error)
  const report = fresh ?? data?.trends ?? null
  async function again() {
    const answer = await refresh({ input: { brandId: brand!.id } })
    if (answer.data?.refreshTrends) setFresh(answer.data.refreshTrends)
  }
  const button = brand && mayWrite && (
    <Button icon={RefreshCw} isDisabled={fetching} onPress={() => void again()}>
      {say(fetching ? 'trends.looking' : 'trends.refresh')}
    </Button>
  )
  return (
    <Page title={say('trends.title')} actions={button}>
      {refused && <Failure sentence={refused.sentence} requestId={refused.requestId} />}
      <Region
        isFlush
        state={isKnown && !brand ? 'empty' : report && report.trends.length > 0 ? 'ready' : state}
        problem={problem}
        retry={retry}
        empty={{ icon: TrendingUp, sentence: say(brand ? 'trends.empty' : 'brand.none'), action: button }}
      >
        {report && (
          <>
            <ul className="list">
              {report.trends.map(({ id, topic, summary, source, url, observedAt, mentionsEarlierYear }) => (
                <li key={id}>
                  <div className="grow">
                    <h2 dir="auto">{topic}</h2>
                    <p className="text" dir="auto">
                      {summary}
                    </p>
                    <p className="quiet small">
                      {lately(observedAt)}
                      {url && (
                        <>
                          {' · '}
                          <a href={url} target="_blank" rel="noopener noreferrer">
                            {source ?? say('trends.source')} <Icon of={ExternalLink} />
                          </a>
                        </>
                      )}{' '}
                      {mentionsEarlierYear && (
                        <Status meaning="warning" icon={TriangleAlert}>
                          {say('trends.old')}
                        </Status>
                      )}
                    </p>
                  </div>
                  {mayWrite && (
                    <Link
                      className="button secondary"
                      to={`/compose?${new URLSearchParams({ copy: topic, ...(url && { link: url }) })}`}
                      aria-label={say('action.of', { action: say('trends.write'), name: topic })}
                    >
                      <Icon of={PenLine} />
                      {say('trends.write')}
                    </Link>
                  )}
                </li>
              ))}
            </ul>
            <p className="pager">{say('trends.fetched', { when: moment(report.fetchedAt) })}</p>
          </>
        )}
      </Region>
    </Page>
  )
}
