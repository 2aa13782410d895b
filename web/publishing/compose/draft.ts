import { useEffect, useRef, useState } from 'react'
import { useMutation } from 'urql'
import { problemOf } from '../../shell/data/problems.ts'
import type { Network } from '../brand/networks.ts'
import { type ComposedPostFragment, CreateDraftDocument, UpdateDraftDocument } from './compose.generated.ts'

/** What somebody writes, before it is posts. */
export interface Draft {
  readonly copy: string
  readonly platforms: readonly Network[]
  /** The time on the brand's walls at which it goes out; empty: no time yet. */
  readonly wall: string
  /** The draft that keeps it, once there is one. */
  readonly post: Pick<ComposedPostFragment, 'id' | 'platform' | 'version'> | null
}

const key = (id: string) => `supergraph.draft.compose.${id}`
const empty: Draft = { copy: '', platforms: [], wall: '', post: null }

/** What was typed in this tab and is not sent yet; it survives a reload. @param id of the draft that is edited, or `new` */
export function keptDraft(id: string): Draft {
  try {
    return { ...empty, ...(JSON.parse(sessionStorage.getItem(key(id)) ?? '{}') as Partial<Draft>) }
  } catch {
    return empty
  }
}

/** Forgets it: it was sent. */
export const forgetDraft = (id: string): void => sessionStorage.removeItem(key(id))

/** Nobody types for so long before it is saved, in ms. */
const pauseMs = 2000

/** Keeps a draft in this tab at once, and as a draft of the brand after a pause. @returns when that was, and what was wrong with it */
export function useSavedDraft(id: string, brandId: string | null, draft: Draft, take: (post: NonNullable<Draft['post']>) => void) {
  const [created, create] = useMutation(CreateDraftDocument)
  const [updated, update] = useMutation(UpdateDraftDocument)
  const [savedAt, setSavedAt] = useState<Date | null>(null)
  const saved = useRef(draft.post ? draft.copy : '')
  const isSaving = useRef(false)
  const idempotencyKey = useRef(crypto.randomUUID())
  const { copy, platforms, post } = draft
  useEffect(() => sessionStorage.setItem(key(id), JSON.stringify(draft)), [id, draft])
  useEffect(() => {
    const [first] = platforms
    if (!brandId || copy === saved.current || copy.trim() === '' || (!post && !first)) return
    const timer = setTimeout(async () => {
      if (isSaving.current) return
      isSaving.current = true
      const answer = post
        ? (await update({ input: { id: post.id, copy, expectedVersion: post.version } })).data?.updatePost
        : (await create({ input: { brandId, platform: first!, copy, idempotencyKey: idempotencyKey.current } })).data?.createPost
      isSaving.current = false
      if (!answer) return
      saved.current = copy
      setSavedAt(new Date())
      take({ id: answer.id, platform: answer.platform, version: answer.version })
    }, pauseMs)
    return () => clearTimeout(timer)
  }, [brandId, copy, platforms, post, create, update, take])
  return { savedAt, problem: problemOf(updated.error ?? created.error) }
}
