import { diffWords } from './words.ts'

/** One text as it became another: what left is struck out, what came is underlined. */
export const Diff = ({ before, after }: { readonly before: string; readonly after: string }) => (
  <p className="text diff" dir="auto">
    {diffWords(before, after).map(({ kind, text }, at) =>
      kind === 'same' ? <span key={at}>{text}</span> : kind === 'added' ? <ins key={at}>{text}</ins> : <del key={at}>{text}</del>,
    )}
  </p>
)
