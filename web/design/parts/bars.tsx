/** A figure over time: a bar a day. What it shows stands in a table beside it, so it is hidden from who reads that. */
export function Bars({ values, labels }: { readonly values: readonly number[]; readonly labels: readonly string[] }) {
  const top = Math.max(...values, 1)
  const width = 100 / Math.max(values.length, 1)
  return (
    <div className="bars" aria-hidden>
      <svg viewBox="0 0 100 40" preserveAspectRatio="none" role="presentation">
        {values.map((value, at) => {
          const height = value === 0 ? 0.4 : Math.max((value / top) * 39, 0.8)
          return <rect key={labels[at]} x={at * width + width * 0.1} y={40 - height} width={width * 0.8} height={height} rx={Math.min(width * 0.1, 0.4)} />
        })}
      </svg>
      <div className="quiet small">
        <span>{labels[0]}</span>
        <span>{labels.at(-1)}</span>
      </div>
    </div>
  )
}
