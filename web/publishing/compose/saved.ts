import { useEffect, useRef, useState } from 'react'
import { useClient, useMutation } from 'urql'
import { type Problem, problemOf } from '../../shell/data/problems.ts'
import { ComposeDraftDocument, type ComposedPostFragment, CreateDraftDocument, UpdateDraftDocument } from './compose.generated.ts'
import { contentOf, type Draft, hasContent, keepDraft } from './draft.ts'

/** Nobody types for so long before it is saved, in ms. */
const pauseMs = 2000

/** How the keeping of a draft stands. */
export interface Saved {
  readonly at: Date | null
  readonly problem: Problem | null
  /** Whether something was typed that the graph does not have yet. */
  readonly isUnsaved: boolean
  /** The draft as somebody else has written it meanwhile; null while nobody has. */
  readonly theirs: ComposedPostFragment | null
  /** Writes over what somebody else has written. */
  keepMine(): void
  /** Waits until nothing is being saved, so that what follows finds the last version. */
  settled(): Promise<void>
}

/** Keeps a draft in this tab at once, and as a draft of the brand after a pause. @param take takes the draft of the graph that keeps it */
export function useSavedDraft(id: string, brandId: string, draft: Draft, take: (post: NonNullable<Draft['post']>) => void): Saved {
  const client = useClient()
  const [, create] = useMutation(CreateDraftDocument)
  const [, update] = useMutation(UpdateDraftDocument)
  const [at, setAt] = useState<Date | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [theirs, setTheirs] = useState<ComposedPostFragment | null>(null)
  const content = JSON.stringify(contentOf(draft))
  const [saved, setSaved] = useState(draft.post ? content : '')
  const saving = useRef<Promise<void>>(Promise.resolve())
  const [round, setRound] = useState(0)
  const idempotencyKey = useRef(crypto.randomUUID())
  const { platforms, post } = draft
  // A save that waits for the one before it writes what that one made of the draft.
  const latest = useRef(post)
  latest.current = post
  const isWorth = hasContent(draft) && (post !== null || platforms.length > 0)
  const isUnsaved = isWorth && content !== saved
  useEffect(() => keepDraft(id, draft), [id, draft])
  useEffect(() => {
    if (!isUnsaved || theirs) return
    // `round` begins anew what a save under way has held up, or a refusal.
    void round
    const save = async () => {
      const fields = JSON.parse(content) as ReturnType<typeof contentOf>
      const known = latest.current
      const answer = known
        ? await update({ input: { id: known.id, ...fields, expectedVersion: known.version } })
        : await create({ input: { brandId, platform: platforms[0]!, ...fields, idempotencyKey: idempotencyKey.current } })
      const kept = answer.data && ('updatePost' in answer.data ? answer.data.updatePost : answer.data.createPost)
      const told = problemOf(answer.error)
      setProblem(told?.reason === 'STALE_VERSION' ? null : told)
      if (told?.reason === 'STALE_VERSION' && known) {
        const now = await client.query(ComposeDraftDocument, { id: known.id }, { requestPolicy: 'network-only' }).toPromise()
        setTheirs(now.data?.post ?? null)
      }
      if (!kept) return
      setSaved(content)
      setAt(new Date())
      latest.current = { id: kept.id, platform: kept.platform, version: kept.version }
      take(latest.current)
    }
    const timer = setTimeout(() => {
      saving.current = saving.current.then(save)
    }, pauseMs)
    return () => clearTimeout(timer)
  }, [brandId, content, isUnsaved, platforms, post, theirs, round, client, create, update, take])
  return {
    at,
    problem,
    isUnsaved,
    theirs,
    keepMine() {
      if (theirs) take({ id: theirs.id, platform: theirs.platform, version: theirs.version })
      setTheirs(null)
      setRound(before => before + 1)
    },
    settled: () => saving.current,
  }
}
