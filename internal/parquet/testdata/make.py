"""Writes the Parquet files of this directory with Apache Arrow, another
implementation than the one under test, and one with DuckDB. Written with pyarrow 26.0.1
and duckdb 2.0.0."""
import base64
import decimal
import uuid

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe

# 40 episodes of 3 decisions; every number is a simple function of its place,
# so that a test can compute it: row r is step r % 3 of episode r // 3.
n = 120
rows = range(n)
last = [r % 3 == 2 for r in rows]
obs = [[float(r), r / 4, -float(r)] for r in rows]
ids = pa.array([f"e{r // 3}" for r in rows]).dictionary_encode()
probs = [[0.25, 0.75] for _ in rows]

lists = pa.table({
    "episode_id": ids,
    "unit_id": pa.array([r // 3 % 7 for r in rows], pa.int32()),
    "observation": pa.array(obs, pa.list_(pa.float32(), 3)),
    "action": pa.array([r % 2 for r in rows], pa.uint8()),
    "action_probs": pa.array(probs, pa.list_(pa.float64())),
    "reward": pa.array([r / 8 for r in rows], pa.float32()),
    "terminations": pa.array([last[r] and r % 2 == 0 for r in rows]),
    "truncations": pa.array([last[r] and r % 2 == 1 for r in rows]),
    "next_observation": pa.array([[-1.0, -2.0, -3.0] if last[r] else None for r in rows], pa.list_(pa.float64())),
})
pq.write_table(lists, "lists_v1.parquet", row_group_size=50, data_page_size=64, compression="zstd", data_page_version="1.0")
pq.write_table(lists, "lists_v2.parquet", row_group_size=70, data_page_size=64, compression="gzip", data_page_version="2.0")

flat = pa.table({
    "episode_id": pa.array([r // 3 for r in rows], pa.uint64()),
    "unit_id": pa.array([None if r // 3 % 5 == 0 else f"p{r // 3 % 5}" for r in rows]),
    "obs_zeta": pa.array([None if r % 4 == 0 else r * 0.5 for r in rows]),
    "obs_alpha": pa.array([r % 2 == 0 for r in rows]),
    "obs_mid": pa.array([2**31 + r for r in rows], pa.uint32()),
    "action": pa.array([r % 3 for r in rows], pa.int16()),
    "reward": pa.array([-r for r in rows], pa.int64()),
    "when": pa.array([0 for _ in rows], pa.timestamp("us")),
    "price": pa.array([0 for _ in rows], pa.decimal128(8, 2)),
    "half": pa.array([0 for _ in rows], pa.float16()),
    "nested": pa.array([{"a": 1, "b": 2} for _ in rows]),
})
pq.write_table(flat, "flat_plain.parquet", use_dictionary=False, compression="none", data_page_size=128, write_batch_size=16)
pq.write_table(flat, "flat_dict.parquet", use_dictionary=True, compression="snappy", row_group_size=33, data_page_size=128, write_batch_size=16)
pq.write_table(flat, "flat_split.parquet", use_dictionary=False, compression="brotli", column_encoding={
    "obs_zeta": "BYTE_STREAM_SPLIT", "reward": "DELTA_BINARY_PACKED", "unit_id": "DELTA_BYTE_ARRAY"}, data_page_version="2.0")

ragged = pa.table({"episode_id": [1, 2, 3], "observation": [[1.0, 2.0], [3.0, 4.0], [5.0]], "reward": [0.0, 0.0, 0.0]})
pq.write_table(ragged, "ragged.parquet")
pq.write_table(flat.select(["episode_id", "reward"]), "lz4.parquet", compression="lz4")
unknown = flat.replace_schema_metadata({"discreet_schema_version": "2"})
pq.write_table(unknown.select(["episode_id", "reward"]), "version2.parquet")
pq.write_table(flat.slice(0, 0).select(["episode_id", "reward"]), "norows.parquet")

# Decimals of each physical width, UUIDs, and ids that only a DOUBLE takes.
duckdb.sql("""COPY (SELECT * FROM (VALUES
    (0.5::DECIMAL(4,1), 12345678.1234::DECIMAL(18,4), 1000000000000000000000000000::DECIMAL(38,10), '0b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9'::UUID, 9007199254740993::HUGEINT),
    (NULL, NULL, NULL, NULL, NULL),
    (-0.5, -0.0001, -0.0000000001, 'ffffffff-ffff-ffff-ffff-fffffffffff0', 9007199254740992)) t(half, price, large, person, huge))
    TO 'duckdb_decimals.parquet' (FORMAT parquet)""")
D = decimal.Decimal
pq.write_table(pa.table({
    "half": pa.array([D("0.5"), None, D("-0.5")], pa.decimal128(4, 1)),
    "price": pa.array([D("12345678.1234"), None, D("-0.0001")], pa.decimal128(18, 4)),
    "large": pa.array([D(10) ** 27, None, D("-0.0000000001")], pa.decimal256(60, 10)),
    "person": pa.array([uuid.UUID("0b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9").bytes, None, uuid.UUID("ffffffff-ffff-ffff-ffff-fffffffffff0").bytes], pa.uuid()),
    "huge": pa.array([2.0**53, None, 1.0]),
}), "pyarrow_decimals.parquet", store_decimal_as_integer=False)


class Kms(pe.KmsClient):
    """Keeps keys beside what they encrypt: the files are for tests."""

    def __init__(self, _):
        super().__init__()

    def wrap_key(self, key, name):
        return base64.b64encode(key)

    def unwrap_key(self, key, name):
        return base64.b64decode(key)


secret = pa.table({"episode_id": [1, 2, 3], "obs_x": [1.0, 2.0, 3.0], "reward": [0.0, 0.0, 1.0]})
for clear, name in ((False, "encrypted_footer.parquet"), (True, "encrypted_columns.parquet")):
    e = pe.EncryptionConfiguration(footer_key="f", column_keys={"c": ["obs_x"]}, plaintext_footer=clear, double_wrapping=False)
    p = pe.CryptoFactory(Kms).file_encryption_properties(pe.KmsConnectionConfig(), e)
    with pq.ParquetWriter(name, secret.schema, encryption_properties=p) as w:
        w.write_table(secret)
