import { Statistic, Statistics } from '../../design/parts/statistic.tsx'
import { locale } from '../../shell/place.ts'
import { say } from '../../shell/words.ts'
import type { PostDetailsFragment } from './posts.generated.ts'

const names = ['impressions', 'likes', 'comments', 'shares', 'clicks', 'videoViews'] as const
const number = new Intl.NumberFormat(locale)

/** What its network counted of it last; figures that the network does not tell are left out. */
export function Figures({ post: { analytics } }: { readonly post: PostDetailsFragment }) {
  const latest = analytics?.latest
  if (!latest) return null
  return (
    <Statistics>
      {names.flatMap(name => {
        const value = latest[name]
        return value === null ? [] : [<Statistic key={name} label={say(`figures.${name}`)} value={number.format(value)} />]
      })}
    </Statistics>
  )
}
