import type DataLoader from 'dataloader'
import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { createLoader } from '../../../store/loader.ts'
import { type Rows, type StoreContext, store } from '../../../store/store.ts'
import { brands } from '../brand.ts'
import { lockThreadKey, type PostRow, posts } from '../post.ts'

/** Threads with more than one post or with a title; every other thread is represented by its only post. */
export const threads = table('publishing.post_threads', {
  brandId: uuid.key,
  id: uuid.key,
  title: text.maybe,
  ...stamps,
})

export type PostThreadRow = Row<typeof threads>

/** Maximum number of a thread's posts. */
export const mostOfThread = 25

const columns = selectList(posts, 'p')

/** Threads from earlier versions may exceed the present maximum: only their first posts are listed. */
const ofThreads = statement(
  `select p.* from unnest($1::uuid[], $2::uuid[]) as asked(brand_id, thread_id)
     join lateral (select ${columns} from publishing.posts p where p.brand_id = asked.brand_id and p.thread_id = asked.thread_id
       order by p.position limit 100) p on true
    order by p.position`,
)
const lockThread = statement(`select ${columns} from publishing.posts p where p.brand_id = $1 and p.thread_id = $2 order by p.position for no key update of p`)
const place = statement('update publishing.posts set position = $3 where brand_id = $1 and id = $2')
const forgetIfEmpty = statement(
  `delete from publishing.post_threads t where t.brand_id = $1 and t.id = $2
     and not exists (select from publishing.posts p where p.brand_id = t.brand_id and p.thread_id = t.id)`,
)
const know = statement(
  `insert into publishing.post_threads (brand_id, id, created_at, updated_at, created_by) values ($1, $2, $3, $3, $4) on conflict do nothing`,
)

/** Returns the statements that only threads have. */
const threadSql = (rows: Rows<typeof threads>, { reading }: StoreContext) => ({
  /** Loads the posts of threads, in order, for one operation. */
  postsOf: createLoader<Pick<PostThreadRow, 'brandId' | 'id'>, readonly PostRow[]>(
    reading,
    async asked => {
      const found = Map.groupBy(
        await rows.read<PostRow>(ofThreads, [asked.map(({ brandId }) => brandId), asked.map(({ id }) => id)]),
        ({ threadId }) => threadId,
      )
      return asked.map(({ id }) => found.get(id) ?? [])
    },
    10,
  ) as DataLoader<Pick<PostThreadRow, 'brandId' | 'id'>, readonly PostRow[]>,

  /** Locks and returns the posts of a thread in order; none is added before the transaction ends. */
  async lockPosts(brandId: string, threadId: string, transaction: Transaction): Promise<PostRow[]> {
    await rows.read(lockThreadKey, [`${brandId}:${threadId}`], transaction)
    return rows.read<PostRow>(lockThread, [brandId, threadId], transaction)
  },

  /** Moves a post to a position that no other post has. */
  putAt: async ({ brandId, id }: Pick<PostRow, 'brandId' | 'id'>, position: number, transaction: Transaction): Promise<void> =>
    void (await rows.read(place, [brandId, id, position], transaction)),

  /** Deletes a thread without posts. */
  forgetIfEmpty: async (brandId: string, id: string, transaction: Transaction): Promise<void> =>
    void (await rows.read(forgetIfEmpty, [brandId, id], transaction)),

  /** Stores a thread, unless it is stored already. */
  know: async (brandId: string, id: string, now: Date, createdBy: string, transaction: Transaction): Promise<void> =>
    void (await rows.read(know, [brandId, id, now, createdBy], transaction)),
})

export const threadStore = store(
  threads,
  {
    what: 'thread',
    tenancy: { through: brands, owner: 'organizationId', by: 'brandId' },
    lists: { all: { below: 'brandId', order: 'newest first' } },
  },
  threadSql,
)
