import { crash } from '../../../../platform/crash.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { newId, newIdInTurn } from '../../../../platform/ids.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { create } from '../../../store/write.ts'
import { actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { announcePost } from '../../news/announce.ts'
import type { ApprovalMode, BrandRow } from '../../stores/brand.ts'
import type { PostRow } from '../../stores/post.ts'
import type { ImportReportRow, ImportRow as KeptImport } from '../../stores/posts/import.ts'
import { lookAround, mostProblems, problemsWith, requirePublishable, type Surroundings, weighed } from '../problems.ts'
import { checkSchedule } from '../rules.ts'
import { requireSpace } from '../thread/rules.ts'
import { addPost, requireRoom, rowOf } from '../write.ts'
import { type ImportedPost, type ImportRow, type RowProblem, readRows } from './rows.ts'

/** A CSV file to import, or with `dryRun` only to check. */
export interface ImportInput {
  readonly brandId: string
  readonly csv: string
  readonly dryRun?: boolean | null | undefined
  readonly idempotencyKey?: string | null | undefined
}

/** Result of an import. */
export interface ImportReport {
  /** Id of the import; of a dry run a new id under which nothing is stored. */
  readonly id: string
  readonly dryRun: boolean
  readonly created: number
  readonly invalid: number
  readonly rows: readonly ImportReportRow[]
}

/** A row as read and checked, before it is written. */
interface Prepared {
  readonly line: number
  readonly post: (ImportedPost & { readonly surroundings: Surroundings; readonly position: number }) | null
  readonly problems: readonly RowProblem[]
}

/** Creates posts from the valid rows of a CSV file, and reports the invalid ones; once for each idempotency key. */
export async function importPosts(context: Context, { brandId, csv, dryRun, idempotencyKey }: ImportInput): Promise<ImportReport> {
  const { brands, imports, events } = context
  const brand = await brands.require(brandId, 'brandId')
  const read = await weighed(context, csv, () => readRows(csv, brand.timeZone))
  const rows = await prepare(context, brand, read)
  if (dryRun) return { id: newId(context.clock.now()), dryRun: true, created: 0, ...counted(rows.map(row => reportOf(row, null))) }
  const made: PostRow[] = []
  const once = { brandId: brand.id, csv, idempotencyKey }
  const { row } = await create(context, {
    of: imports,
    once,
    tenantId: brand.organizationId,
    async run(unit, id) {
      const mode = await brands.requireInUse(brand.id, unit.transaction)
      const right = rows.flatMap(({ post }) => post ?? [])
      if (right.length > 0) await requireRoom(context, right.length, unit)
      const report = await writeAll(context, { brand, mode, made }, rows, unit)
      const stamps = { createdAt: unit.now, updatedAt: unit.now, createdBy: actorOf(context.viewer) }
      crash('in-import')
      return { brandId: brand.id, id, created: made.length, report, ...stamps }
    },
    audit: ({ id, created }) => ({ tenantId: brand.id, action: 'posts.imported', subjectId: id, details: { created } }),
    announce() {
      for (const post of made) announcePost(events, brand, post)
    },
  })
  crash('after-import')
  return reportOfKept(row)
}

const reportOfKept = ({ id, created, report }: KeptImport): ImportReport => ({ id, dryRun: false, created, ...counted(report) })

const counted = (rows: readonly ImportReportRow[]) => ({ rows, invalid: rows.filter(({ status }) => status === 'INVALID').length })

const reportOf = ({ line, post, problems }: Prepared, postId: string | null): ImportReportRow => ({
  row: line,
  status: !post ? 'INVALID' : postId ? 'CREATED' : 'VALID',
  postId,
  problems,
})

/** Checks each row as a post that a person writes. */
async function prepare(context: Context, brand: BrandRow, rows: readonly ImportRow[]): Promise<readonly Prepared[]> {
  const now = context.clock.now()
  const places = placesOf(rows)
  const judges = await Promise.all(rows.map((row, at) => readAbout(context, brand, { row, position: places[at]!, now })))
  const prepared: Prepared[] = []
  for (const [at, judge] of judges.entries()) {
    const { line, post } = rows[at]!
    try {
      prepared.push({ line, ...(await weighed(context, post?.content.copy ?? '', judge)) })
    } catch (error) {
      prepared.push({ line, post: null, problems: [problemOf(error)] })
    }
  }
  return prepared
}

type Judged = Omit<Prepared, 'line'>

/** Reads what a row is judged by, all rows together. @returns what comes of it, once that is worked out */
async function readAbout(
  context: Context,
  brand: BrandRow,
  { row: { post, problems }, position, now }: { readonly row: ImportRow; readonly position: number; readonly now: Date },
): Promise<() => Judged> {
  if (!post) return () => ({ post: null, problems })
  const { content, platform, scheduledAt } = post
  try {
    requireSpace(position)
    if (content.campaignId) await context.campaigns.seeOf(brand.id, content.campaignId)
    const looked = { ...content, brandId: brand.id, platform, position, id: null, at: scheduledAt ?? now, platforms: scheduledAt ? [platform] : [] }
    const around = await lookAround(context, looked)
    return () => {
      const found = problemsWith(looked, around)
      if (!scheduledAt) return { post: { ...post, surroundings: around.surroundings, position }, problems: found }
      const isLate = scheduledAt <= now
      const told = [...(isLate ? [hasPassed] : []), ...found].slice(0, mostProblems)
      if (isLate || found.some(({ severity }) => severity === 'ERROR')) return { post: null, problems: told }
      checkSchedule(scheduledAt, now)
      requirePublishable([], platform, around.surroundings.networks)
      return { post: { ...post, surroundings: around.surroundings, position }, problems: told }
    }
  } catch (error) {
    const told = [problemOf(error)]
    return () => ({ post: null, problems: told })
  }
}

const hasPassed: RowProblem = {
  severity: 'ERROR',
  code: 'CELL_INVALID',
  field: 'scheduledAt',
  message: 'scheduledAt has passed: choose a moment in the future, or leave it out for a draft.',
}

/** Returns the problem of a row that an error describes. */
function problemOf(error: unknown): RowProblem {
  if (!(error instanceof DomainError)) throw error
  const { field, problems } = error.extensions as { field?: string; problems?: readonly RowProblem[] }
  if (problems?.[0]) return problems[0]
  return { severity: 'ERROR', code: error.code === 'NOT_FOUND' ? 'NOT_FOUND' : 'CELL_INVALID', field: field ?? 'csv', message: error.message }
}

/** Returns the position of each valid row within its thread. */
function placesOf(rows: readonly ImportRow[]): readonly number[] {
  const taken = new Map<string, number>()
  return rows.map(({ post }) => {
    if (!post?.threadKey) return 1
    const place = (taken.get(post.threadKey) ?? 0) + 1
    taken.set(post.threadKey, place)
    return place
  })
}

interface Writing {
  readonly brand: BrandRow
  readonly mode: ApprovalMode
  readonly made: PostRow[]
}

async function writeAll(
  context: Context,
  { brand, mode, made }: Writing,
  rows: readonly Prepared[],
  unit: WriteTransaction,
): Promise<readonly ImportReportRow[]> {
  const threads = new Map<string, { readonly id: string; count: number }>()
  const report: ImportReportRow[] = []
  for (const row of rows) {
    const { post } = row
    if (!post) {
      report.push(reportOf(row, null))
      continue
    }
    // Lists show the posts in the order of the file.
    const id = newIdInTurn(unit.now, made.length)
    const thread = post.threadKey ? (threads.get(post.threadKey) ?? { id, count: 0 }) : { id, count: 0 }
    // A rejected row in between leaves no gap.
    const draft = { ...post, threadId: thread.id, position: thread.count + 1, origin: 'IMPORT' as const }
    const written = await addPost(context, rowOf(context, brand, mode, draft, unit, id), unit)
    if (thread.count === 1) await context.threads.know(brand.id, thread.id, unit.now, written.createdBy, unit.transaction)
    thread.count += 1
    if (post.threadKey) threads.set(post.threadKey, thread)
    made.push(written)
    report.push(reportOf(row, written.id))
  }
  return report
}
