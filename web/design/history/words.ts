/** A piece of a text as it became another. */
export interface DiffPiece {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

/** Beyond so many words a side the two are shown whole: comparing grows with their product. */
const maxWords = 1500

/** What of a text was taken out and put in, by words; joined pieces give both texts back. */
export function diffWords(before: string, after: string): readonly DiffPiece[] {
  const [old, young] = [before.match(/\s+|[^\s]+/g) ?? [], after.match(/\s+|[^\s]+/g) ?? []]
  if (old.length > maxWords || young.length > maxWords) return joined([piece('removed', before), piece('added', after)])
  // Lengths of the longest common part from each pair of places on.
  const width = young.length + 1
  const lengths = new Uint16Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = young.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        old[i] === young[j] ? lengths[(i + 1) * width + j + 1]! + 1 : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
  const pieces: DiffPiece[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < young.length) {
    if (i < old.length && j < young.length && old[i] === young[j]) {
      pieces.push(piece('same', old[i]!))
      i++
      j++
    } else if (i < old.length && (j >= young.length || lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!)) pieces.push(piece('removed', old[i++]!))
    else pieces.push(piece('added', young[j++]!))
  }
  return joined(pieces)
}

const piece = (kind: DiffPiece['kind'], text: string): DiffPiece => ({ kind, text })

function joined(pieces: readonly DiffPiece[]): readonly DiffPiece[] {
  const out: DiffPiece[] = []
  for (const each of pieces) {
    const last = out.at(-1)
    if (last?.kind === each.kind) out[out.length - 1] = piece(each.kind, last.text + each.text)
    else if (each.text !== '') out.push(each)
  }
  return out
}
