import { Clapperboard } from 'lucide-react'
import { type Column, Table } from '../../design/parts/table.tsx'
import { Page } from '../../shell/page.tsx'
import { locale } from '../../shell/place.ts'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { VideoDocument, type VideoQuery } from './video.generated.ts'

const number = new Intl.NumberFormat(locale)

type Bucket = NonNullable<VideoQuery['videoQuota']>[number] & { readonly id: string }

/** Units of the video networks that are left today: all organizations share them. */
export default function Video() {
  const { data, state, problem, retry } = useRead(VideoDocument, {}, { isEmpty: ({ videoQuota }) => videoQuota?.length === 0 })
  const rows = (data?.videoQuota ?? []).map(bucket => ({ ...bucket, id: bucket.name }))
  return (
    <Page title={say('video.title')}>
      <Region isFlush state={state} problem={problem} retry={retry} empty={{ icon: Clapperboard, sentence: say('video.empty') }}>
        <Table label={say('video.title')} columns={columns()} rows={rows} />
      </Region>
      <p className="quiet small">{say('video.shared')}</p>
    </Page>
  )
}

const columns = (): readonly Column<Bucket>[] => [
  { id: 'name', heading: say('video.bucket'), isMain: true, cell: ({ name }) => <span className="clip">{name}</span> },
  {
    id: 'used',
    heading: say('video.used'),
    cell: ({ used, dailyLimit, name }) => (
      <span className="meter">
        <meter min={0} max={dailyLimit} value={used} aria-label={say('video.used-of', { name })} />
        {say('video.of', { used: number.format(used), limit: number.format(dailyLimit) })}
      </span>
    ),
  },
  {
    id: 'own',
    heading: say('video.own'),
    isFigure: true,
    cell: ({ organizationUsed, organizationLimit }) =>
      organizationLimit === null || organizationLimit === undefined
        ? number.format(organizationUsed)
        : say('video.of', { used: number.format(organizationUsed), limit: number.format(organizationLimit) }),
  },
  { id: 'apps', heading: say('video.apps'), cell: ({ apps }) => apps.map(({ appId, used }) => `${appId} ${number.format(used)}`).join(', ') || '–' },
  {
    id: 'resets',
    heading: say('video.resets'),
    cell: ({ resetsAt }) => (
      <time className="quiet" dateTime={resetsAt}>
        {moment(resetsAt)}
      </time>
    ),
  },
]
