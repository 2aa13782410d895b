import type { Session } from '../../../shell/session/session.ts'

/** A file that the processor keeps for a dispute. */
export interface KeptFile {
  readonly id: string
  readonly name: string
}

/** How many files a dispute takes, and how large one may be. */
export const most = { files: 5, bytes: 5 * 1024 * 1024 } as const

/** What files may be. */
export const typesOf = ['application/pdf', 'image/png', 'image/jpeg'] as const

/** Whether a file can be given. */
export const takes = ({ type, size }: File): boolean => typesOf.some(each => each === type) && size > 0 && size <= most.bytes

/** Has the processor keep a file; sent again after a failure it is kept once. @returns null when it was not kept */
export async function keepFile(session: Session, disputeId: string, file: File): Promise<KeptFile | null> {
  const key = crypto.randomUUID()
  const send = async () => {
    const token = await session.token()
    return fetch(`/payments/api/disputes/${disputeId}/files?name=${encodeURIComponent(file.name)}`, {
      method: 'POST',
      headers: { 'content-type': file.type, 'idempotency-key': key, ...(token !== null && { authorization: `Bearer ${token}` }) },
      body: file,
    }).catch(() => null)
  }
  let answer = await send()
  if (!answer || answer.status >= 500) answer = await send()
  return answer?.ok ? ((await answer.json()) as KeptFile) : null
}
