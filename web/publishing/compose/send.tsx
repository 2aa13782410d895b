import { CalendarClock, Send, Trash2, UserCheck } from 'lucide-react'
import { useState } from 'react'
import { type CombinedError, useClient, useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo } from '../../shell/address.tsx'
import { type Problem, problemOf } from '../../shell/data/problems.ts'
import { Failure } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import type { Brand } from '../brand/brand.ts'
import { networks } from '../brand/networks.ts'
import {
  ComposeDocument,
  ComposeDraftDocument,
  ComposeThreadDocument,
  DropDraftDocument,
  PublishComposedDocument,
  SubmitComposedDocument,
  UpdateDraftDocument,
} from './compose.generated.ts'
import { composeInput, type Draft, fieldsFor, forgetDraft, hasContent } from './draft.ts'

interface Written {
  readonly id: string
  readonly version: number
}

interface SendingProps {
  readonly id: string
  readonly brand: Brand
  readonly draft: Draft
  /** When it goes out; null while no time is chosen, or one that the clocks skip. */
  readonly at: Date | null
  settled(): Promise<void>
}

/** What becomes of it: scheduled for its time, sent at this moment, or shown to those who approve. */
export function Sending({ id, brand, draft, at, settled }: SendingProps) {
  const { write, isBusy, problem, run } = useWriting(id, brand, draft, settled)
  const [, publish] = useMutation(PublishComposedDocument)
  const [, submit] = useMutation(SubmitComposedDocument)
  const [asks, setAsks] = useState(false)
  const isWhole = hasContent(draft) && draft.platforms.length > 0 && draft.later.every(copy => copy.trim() !== '')
  const schedule = () =>
    run(async () => {
      await write(at!.toISOString())
      return { sentence: say('compose.done'), to: '/posts?status=scheduled' }
    })
  const publishNow = () =>
    run(async () => {
      const posts = await write(null)
      // The first post of a thread takes the later ones with it.
      for (const post of draft.later.length > 0 ? posts.slice(0, 1) : posts) must(await publish({ input: { id: post.id, expectedVersion: post.version } }))
      return { sentence: say('compose.published'), to: '/posts' }
    })
  const submitAll = () =>
    run(async () => {
      for (const post of await write(at?.toISOString() ?? null)) must(await submit({ input: { id: post.id } }))
      return { sentence: say('compose.submitted'), to: '/posts?approval=pending' }
    })
  return (
    <>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      <div className="actions">
        <Button kind="primary" icon={CalendarClock} isDisabled={!isWhole || !at || isBusy} onPress={() => void schedule()}>
          {say('compose.schedule')}
        </Button>
        {brand.approvalMode !== 'NONE' && (
          <Button icon={UserCheck} isDisabled={!isWhole || isBusy} onPress={() => void submitAll()}>
            {say('compose.submit')}
          </Button>
        )}
        <Button icon={Send} isDisabled={!isWhole || isBusy} onPress={() => setAsks(true)}>
          {say('posts.publish')}
        </Button>
      </div>
      {asks && (
        <Dialog title={say('posts.publish')} onClose={() => setAsks(false)}>
          <p>{say('posts.publish-sure', { network: draft.platforms.map(each => networks[each]).join(', ') })}</p>
          <div className="actions">
            <Button onPress={() => setAsks(false)}>{say('action.cancel')}</Button>
            <Button
              kind="primary"
              onPress={() => {
                setAsks(false)
                void publishNow()
              }}
            >
              {say('posts.publish')}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}

/** What the graph refused of what was asked for. */
class Refused extends Error {
  readonly problem: Problem
  constructor(error: CombinedError) {
    super(error.message)
    this.problem = problemOf(error)!
  }
}

function must<Data>({ data, error }: { readonly data?: Data | undefined; readonly error?: CombinedError | undefined }): Data {
  if (error) throw new Refused(error)
  return data!
}

/** Writes the draft as posts: the draft itself where it is one post of one network, else new ones. Each opening of the form has one key, so a press counts once. */
function useWriting(id: string, brand: Brand, draft: Draft, settled: () => Promise<void>) {
  const client = useClient()
  const [, compose] = useMutation(ComposeDocument)
  const [, thread] = useMutation(ComposeThreadDocument)
  const [, update] = useMutation(UpdateDraftDocument)
  const [, drop] = useMutation(DropDraftDocument)
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  async function write(scheduledAt: string | null): Promise<readonly Written[]> {
    const { platforms, post, later } = draft
    const time = scheduledAt === null ? {} : { scheduledAt }
    if (post && later.length === 0 && platforms.length === 1 && platforms[0] === post.platform) {
      // What was saved meanwhile has a newer version than the form knows.
      const now = must(await client.query(ComposeDraftDocument, { id: post.id }, { requestPolicy: 'network-only' }).toPromise())
      const answer = await update({ input: { id: post.id, ...fieldsFor(draft, post.platform), ...time, expectedVersion: now.post?.version ?? post.version } })
      return [must(answer).updatePost!]
    }
    const written = later.length === 0 ? await writeAll(time) : await writeThreads(time)
    // Each network has posts of its own now: the draft that kept the text has done its work.
    if (post) await drop({ input: { id: post.id } })
    return written
  }
  async function writeAll(time: { readonly scheduledAt?: string }): Promise<readonly Written[]> {
    const answer = await compose({ input: { ...composeInput(draft, brand.id), ...time, idempotencyKey } })
    return (must(answer).composePosts?.posts ?? []).filter(each => each !== null)
  }
  async function writeThreads(time: { readonly scheduledAt?: string }): Promise<readonly Written[]> {
    const written: Written[] = []
    for (const platform of draft.platforms) {
      const { copy, media, title } = fieldsFor(draft, platform)
      const posts = [{ copy, media }, ...draft.later.map(text => ({ copy: text }))]
      const answer = await thread({ input: { brandId: brand.id, platform, posts, title, ...time, idempotencyKey: `${idempotencyKey} ${platform}` } })
      written.push(...(must(answer).createPostThread?.posts ?? []).filter(each => each !== null))
    }
    return written
  }
  async function run(act: () => Promise<{ readonly sentence: string; readonly to: string }>): Promise<void> {
    setBusy(true)
    setProblem(null)
    try {
      await settled()
      const { sentence, to } = await act()
      forgetDraft(id)
      toast({ sentence })
      goTo(to)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      setProblem(error.problem)
    } finally {
      setBusy(false)
    }
  }
  return { write, isBusy, problem, run }
}

/** Gives up what was typed, with the draft that keeps it, after asking. */
export function Discard({ id, draft, settled }: { readonly id: string; readonly draft: Draft; settled(): Promise<void> }) {
  const [{ error, fetching }, drop] = useMutation(DropDraftDocument)
  const [asks, setAsks] = useState(false)
  const problem = problemOf(error)
  async function discard() {
    await settled()
    if (draft.post && (await drop({ input: { id: draft.post.id } })).error) return
    forgetDraft(id)
    setAsks(false)
    toast({ sentence: say('compose.discarded') })
    goTo('/posts')
  }
  if (!hasContent(draft) && !draft.post) return null
  return (
    <>
      <Button kind="quiet" icon={Trash2} onPress={() => setAsks(true)}>
        {say('compose.discard')}
      </Button>
      {asks && (
        <Dialog title={say('compose.discard')} isAlert onClose={() => setAsks(false)}>
          <p>{say('compose.discard-sure')}</p>
          {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
          <div className="actions">
            <Button onPress={() => setAsks(false)}>{say('action.cancel')}</Button>
            <Button kind="danger" isDisabled={fetching} onPress={() => void discard()}>
              {say('compose.discard')}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}
