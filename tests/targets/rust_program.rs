// A Rust program with the default (system) allocator: vectors, strings and maps, in four threads.
//
// Keeps 16 MiB from the function keep_vectors. Prints a sum and the live bytes.

use std::collections::HashMap;
use std::thread;

#[inline(never)]
fn churn_strings(seed: u64) -> u64 {
    let mut words: HashMap<u64, String> = HashMap::new();
    let mut state = seed * 2 + 1;
    for _ in 0..20_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let word = words.entry(state % 500).or_insert_with(String::new);
        if word.len() > 4_000 {
            word.clear();
            word.shrink_to_fit();
        }
        word.push_str(&"r".repeat((state >> 32) as usize % 100));
    }
    // The order of a HashMap is random; the sum does not depend on it.
    words.iter().map(|(key, word)| key * 31 + word.len() as u64).sum()
}

#[inline(never)]
fn keep_vectors() -> Vec<Vec<u8>> {
    (0..256).map(|i| vec![i as u8 + 1; 64 * 1024]).collect()
}

fn main() {
    let threads: Vec<_> = (0..4)
        .map(|seed| thread::spawn(move || churn_strings(seed)))
        .collect();
    let sum: u64 = threads.into_iter().map(|t| t.join().unwrap()).sum();
    let kept = keep_vectors();
    let live: usize = kept.iter().map(|v| v.len()).sum();
    println!("sum {}, live {}", sum, live);
    std::mem::forget(kept);
}
