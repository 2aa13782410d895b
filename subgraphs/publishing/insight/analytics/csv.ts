import { DomainError } from '../../../../platform/errors.ts'
import { csvRow } from '../../../http/csv.ts'
import { problemOf } from '../../../http/problem.ts'
import type { Context } from '../../context.ts'
import { titleOfPost } from '../../news/announce.ts'
import { checkRange } from '../../planning/calendar/rules.ts'
import { mostDays } from './rules.ts'

export const csvPath = '/publishing/api/analytics.csv'

const header = 'postId,platform,publishedAt,title,permalink,impressions,likes,comments,shares,clicks,videoViews\r\n'
const smallestId = '00000000-0000-0000-0000-000000000000'

function readMoment(given: string | null, field: string): Date {
  const at = given && /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})$/.test(given) ? new Date(given) : null
  if (at && !Number.isNaN(at.getTime())) return at
  throw new DomainError('BAD_USER_INPUT', `${field} is no moment: write one such as 2027-03-01T00:00:00Z.`, { field })
}

/** Answers the figures of a brand's posts as CSV, one row a post; rows are read at the speed of the client. */
export async function answerCsv({ brands, analytics }: Context, request: Request): Promise<Response> {
  try {
    const { searchParams } = new URL(request.url)
    const brand = await brands.require(searchParams.get('brandId') ?? '', 'brandId')
    const [from, to] = [readMoment(searchParams.get('from'), 'from'), readMoment(searchParams.get('to'), 'to')]
    checkRange(from, to, mostDays)
    const encoder = new TextEncoder()
    let place: readonly [Date, string] = [new Date(from.getTime() - 1), smallestId]
    const body = new ReadableStream<Uint8Array>({
      start: controller => controller.enqueue(encoder.encode(header)),
      async pull(controller) {
        const found = await analytics.listed(brand.id, from, to, place)
        const lines = found.map(({ id, platform, publishedAt, title, copy, permalink, impressions, likes, comments, shares, clicks, videoViews }) => {
          const cells = [
            id,
            platform.toLowerCase(),
            publishedAt!.toISOString(),
            titleOfPost({ title, copy }),
            permalink,
            impressions,
            likes,
            comments,
            shares,
            clicks,
            videoViews,
          ]
          return csvRow(cells)
        })
        const last = found.at(-1)
        if (!last) return controller.close()
        place = [last.publishedAt!, last.id]
        controller.enqueue(encoder.encode(lines.join('')))
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/csv; charset=utf-8', 'content-disposition': 'attachment; filename="analytics.csv"' } })
  } catch (error) {
    if (error instanceof DomainError) return problemOf(request, error)
    throw error
  }
}
